#include "attention/fused.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "attention/few_queries.h"
#include "attention/fused_walk.h"
#include "attention/pair_walk.h"
#include "attention/turned_inputs.h"
#include "base/kept_by_thread.h"
#include "base/thread_pool.h"

namespace volvelle {
namespace {

constexpr std::int64_t kTile = kernels::kTileKeys;
// Keys whose column sums one task gathers.
constexpr std::int64_t kColumnBlock = 8 * kTile;

template <class T>
T* writable(const Strided4& view) {
  return static_cast<T*>(const_cast<void*>(view.data));
}

// Normalises a panel and stores what was asked for. `lse_rows`: (B,H,T), or null. Returns false
// when a stored output is not finite.
template <class T>
bool finish_panel(const FusedCall<T>& call, const ResolvedOutputs& outputs, PanelWalk<T>& walk,
                  int slot, std::int64_t b, std::int64_t h, T* lse_rows) {
  const ResolvedAttention& problem = call.problem;
  const std::int64_t query = walk.query(slot);
  const int count = walk.count(slot);
  const Strided4& output = outputs.output;
  const bool direct = output.dtype == dtype_of<T> && output.stride[3] == 1;
  const std::int64_t offset = output.offset(b, h, query, 0);

  walk.complete(slot);
  kernels::PanelFinish<T> finish;
  finish.out = walk.out(slot);
  finish.maximum = walk.maximum(slot);
  finish.sum = walk.sum(slot);
  finish.moment = walk.moment(slot);
  finish.value_width = static_cast<int>(problem.value_width);
  finish.vectors = call.vectors;
  finish.queries = count;
  finish.rows = direct ? writable<T>(output) + offset : walk.rows();
  finish.row_stride = direct ? output.stride[2] : problem.value_width;
  // The panel's running state is done with once its statistics are out: they go in its place.
  finish.lse = outputs.lse.present || lse_rows != nullptr ? walk.statistic() : nullptr;
  finish.entropy = outputs.entropy.present ? walk.moment(slot) : nullptr;
  const bool finite = call.kernels.finish(finish);
  if (!direct) {
    store_rows(walk.rows(), count, problem.value_width, output, offset, output.stride[2],
               output.stride[3]);
  }
  if (lse_rows != nullptr) {
    std::copy_n(finish.lse, count, lse_rows + (b * problem.heads + h) * problem.queries + query);
  }
  const auto scatter = [&](const T* lanes, const Strided4& view) {
    T* place = writable<T>(view) + view.offset(b, h, query, 0);
    for (int x = 0; x < count; ++x) place[x * view.stride[2]] = lanes[x];
  };
  if (outputs.lse.present) scatter(finish.lse, outputs.lse);
  if (outputs.entropy.present) scatter(finish.entropy, outputs.entropy);
  return finite;
}

// Asks for the lines of some rows before they are needed, where elements lie side by side.
void fetch_rows(const Strided4& view, std::int64_t offset, std::int64_t rows, std::int64_t width,
                bool to_write) {
  if (view.stride[3] != 1) return;
  const std::int64_t bytes = static_cast<std::int64_t>(size_of(view.dtype));
  const char* row = static_cast<const char*>(view.data) + offset * bytes;
  for (std::int64_t x = 0; x < rows; ++x, row += view.stride[2] * bytes) {
    for (std::int64_t at = 0; at < width * bytes; at += 64) {
      if (to_write) {
        __builtin_prefetch(row + at, 1, 3);
      } else {
        __builtin_prefetch(row + at, 0, 3);
      }
    }
  }
}

// Opens the panels of one task and returns how many there are.
template <class T>
int open_panels(const FusedCall<T>& call, PanelWalk<T>& walk, std::int64_t b, std::int64_t h,
                std::int64_t query, int most) {
  int panels = 0;
  while (panels < most && query < call.problem.queries) {
    const std::int64_t left = call.problem.queries - query;
    const int count = static_cast<int>(std::min<std::int64_t>(call.panel, left));
    const Strided4& q = call.problem.q;
    if (panels + 1 < most && left > count) {
      fetch_rows(q, q.offset(b, h, query + count, 0), std::min<std::int64_t>(count, left - count),
                 call.problem.width, false);
    }
    walk.open(panels++, b, h, query, count);
    query += count;
  }
  return panels;
}

// Walks the open panels [0, panels) over every tile that one of them sees. Returns whether any
// met a tile that excludes something.
template <class T>
bool walk_tiles(const FusedCall<T>& call, PanelWalk<T>& walk, std::int64_t b, std::int64_t h,
                int panels, bool guarded) {
  const ResolvedAttention& problem = call.problem;
  std::int64_t first = problem.keys;
  std::int64_t last = 0;
  for (int slot = 0; slot < panels; ++slot) {
    const PanelExclusion& exclusion = walk.exclusion(slot);
    if (exclusion.any_first == exclusion.any_last) continue;
    first = std::min(first, exclusion.any_first);
    last = std::max(last, exclusion.any_last);
  }
  bool excluding = false;
  kernels::TileStep<T> step;
  StepCut cuts[3];
  for (std::int64_t from = first / kTile * kTile; from < last; from += kTile) {
    const std::int64_t to = std::min(from + kTile, problem.keys);
    bool loaded = false;
    KeyValueTile<T> tile;
    for (int slot = 0; slot < panels; ++slot) {
      if (!walk.exclusion(slot).touches(from, to)) continue;
      if (!loaded) {
        tile = call.source.load(b, problem.key_head(h), from, static_cast<int>(to - from),
                                walk.scratch());
        loaded = true;
      }
      if (tile.k == nullptr) continue;
      int shift = 0;
      if (!walk.prepare(slot, tile, from, to, step, shift)) continue;
      const bool masked = step.first != nullptr || step.select != nullptr;
      excluding = excluding || masked;
      step.guarded = guarded && masked;
      if (slot == 0 && call.fetch_ahead && from + 2 * kTile <= last) {
        const KeyValueTile<T> next = call.source.load(b, problem.key_head(h), from + kTile,
                                                      static_cast<int>(kTile), nullptr);
        step.next_k = next.k;
        step.next_v = next.v;
      }
      const int count = walk.split(slot, step, cuts);
      if (count == 0) {
        walk.start(slot, step);
        call.kernels.tile(step);
      }
      for (int cut = 0; cut < count; ++cut) {
        kernels::TileStep<T> part = walk.part(step, cuts[cut]);
        walk.start(slot, part);
        call.kernels.tile(part);
      }
    }
  }
  return excluding;
}

template <class T>
void forward_task(const FusedCall<T>& call, const ResolvedOutputs& outputs, std::int64_t task,
                  T* lse_rows) {
  const ResolvedAttention& problem = call.problem;
  // Head by head, so that its keys stay in cache from task to task; late queries first, because
  // under causality they have the most keys and the last tasks should be short.
  const std::int64_t plane = task / call.tasks_per_head;
  const std::int64_t block = call.tasks_per_head - 1 - task % call.tasks_per_head;
  const std::int64_t b = plane / problem.heads;
  const std::int64_t h = plane % problem.heads;
  PanelWalk<T> walk(call, call.panels_per_task, outputs.entropy.present,
                    kept_by_thread<Workspace>());
  const std::int64_t query = block * call.panels_per_task * call.panel;
  const int panels = open_panels(call, walk, b, h, query, call.panels_per_task);
  bool excluding = false;  // and leaking, perhaps: the walk over pairs is always guarded
  if constexpr (std::is_same_v<T, float>) {
    if (call.multiplier != nullptr) walk_pairs(call, walk, b, h, panels);
  }
  if (call.multiplier == nullptr) excluding = walk_tiles(call, walk, b, h, panels, false);
  bool finite = true;
  for (int slot = 0; slot < panels; ++slot) {
    if (slot + 1 < panels) {
      fetch_rows(outputs.output, outputs.output.offset(b, h, walk.query(slot + 1), 0),
                 walk.count(slot + 1), problem.value_width, true);
    }
    finite = finish_panel(call, outputs, walk, slot, b, h, lse_rows) && finite;
  }
  if (finite || !excluding) return;
  // Something is not finite and something is excluded: the one may have leaked into the other.
  // The rare second walk keeps them apart, so that the usual one need not look at the values.
  open_panels(call, walk, b, h, query, call.panels_per_task);
  walk_tiles(call, walk, b, h, panels, true);
  for (int slot = 0; slot < panels; ++slot) {
    finish_panel(call, outputs, walk, slot, b, h, lse_rows);
  }
}

// Column sums of one block of keys: all queries in order, so that no bit depends on the threads.
template <class T>
void column_task(const FusedCall<T>& call, const ResolvedOutputs& outputs, std::int64_t task,
                 const T* lse_rows) {
  const ResolvedAttention& problem = call.problem;
  const std::int64_t blocks = (problem.keys + kColumnBlock - 1) / kColumnBlock;
  const std::int64_t plane = task / blocks;
  const std::int64_t b = plane / problem.heads;
  const std::int64_t h = plane % problem.heads;
  const std::int64_t begin = task % blocks * kColumnBlock;
  const std::int64_t end = std::min(begin + kColumnBlock, problem.keys);
  double sums[kColumnBlock] = {};
  PanelWalk<T> walk(call, 1, false, kept_by_thread<Workspace>());
  kernels::TileStep<T> step;
  for (std::int64_t query = 0; query < problem.queries; query += call.panel) {
    open_panels(call, walk, b, h, query, 1);
    if (call.multiplier != nullptr) walk.load_queries(0);
    if (!walk.exclusion(0).touches(begin, end)) continue;
    const T* lse = lse_rows + plane * problem.queries + query;
    T* lanes = walk.statistic();
    std::fill_n(lanes, call.panel, std::numeric_limits<T>::infinity());
    for (int x = 0; x < walk.count(0); ++x) {
      const bool empty = lse[x] == -std::numeric_limits<T>::infinity();
      if (!empty) lanes[x] = lse[x] * call.kernels.per_nat;
    }
    for (std::int64_t from = begin; from < end; from += kTile) {
      const std::int64_t to = std::min(from + kTile, end);
      if (!walk.exclusion(0).touches(from, to)) continue;
      const KeyValueTile<T> tile = call.source.load(b, problem.key_head(h), from,
                                                    static_cast<int>(to - from), walk.scratch());
      if (tile.k == nullptr) continue;
      int shift = 0;
      if (!walk.prepare(0, tile, from, to, step, shift)) continue;
      call.kernels.column_sums(step, lanes, sums + (from - begin) + shift);
    }
  }
  const Strided4& view = outputs.column_sums;
  T* place = writable<T>(view) + view.offset(b, h, begin, 0);
  for (std::int64_t j = 0; j < end - begin; ++j) {
    place[j * view.stride[2]] = static_cast<T>(sums[j]);
  }
}

template <class T>
void attend_as(const ResolvedAttention& problem, const ResolvedOutputs& outputs, int threads) {
  CallWorkspaces& workspaces = kept_by_thread<CallWorkspaces>();
  const std::int64_t planes = problem.batch * problem.heads;
  T* lse_rows = nullptr;
  if (outputs.column_sums.present) {
    lse_rows = static_cast<T*>(
        workspaces.rows.at_least(static_cast<std::size_t>(planes * problem.queries) * sizeof(T)));
  }
  const bool few = has_few_queries(problem);
  if constexpr (std::is_same_v<T, float>) {
    if (few) attend_few(problem, outputs, threads, lse_rows);
  }
  if (few && !outputs.column_sums.present) return;
  const FusedCall<T> call(problem, threads, workspaces, Pairs::multiplied);
  if (!few) {
    parallel_for(planes * call.tasks_per_head, threads,
                 [&](std::int64_t task) { forward_task(call, outputs, task, lse_rows); });
  }
  if (!outputs.column_sums.present) return;
  const std::int64_t blocks = (problem.keys + kColumnBlock - 1) / kColumnBlock;
  parallel_for(planes * blocks, threads,
               [&](std::int64_t task) { column_task(call, outputs, task, lse_rows); });
}

}  // namespace

const char* fused_refusal(const ResolvedAttention& problem) {
  constexpr std::int64_t kWidest = std::int64_t{1} << 24;
  if (problem.width > kWidest || problem.value_width > kWidest) {
    return "heads wider than 16,777,216 do not fit a panel's workspace";
  }
  if (problem.relative_queries.present()) {
    return "relative_queries meet every key and offset, pair by pair: on the composed path";
  }
  if (problem.relative_values.present()) {
    return "relative_values take every weight by its offset: on the composed path";
  }
  return nullptr;
}

void attend_fused(const ResolvedAttention& given, const ResolvedOutputs& outputs, int threads) {
  // Few queries meet each key once.
  const KeyTurns keys = has_few_queries(given) ? KeyTurns::in_tiles : KeyTurns::before;
  const TurnedInputs turned(given, keys, threads);
  const ResolvedAttention& problem = turned.problem();
  if (problem.dtype == DType::float64) {
    attend_as<double>(problem, outputs, threads);
  } else {
    attend_as<float>(problem, outputs, threads);
  }
}

}  // namespace volvelle
