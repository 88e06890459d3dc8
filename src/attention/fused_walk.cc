#include "attention/fused_walk.h"

#include <algorithm>
#include <limits>

#include "attention/carver.h"
#include "attention/dropout.h"
#include "attention/pair_walk.h"
#include "kernels/simd_choice.h"
#include "tensor/convert.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {
namespace {

constexpr int kTile = kernels::kTileKeys;
// Queries that share one pass over a tile of keys: enough that reading the keys costs nothing,
// few enough that their queries and outputs stay in the second-level cache.
constexpr int kTaskQueries = 256;
// Turning a tile's values on their side for the products of pairs is worth more of them.
constexpr int kPairTaskQueries = 512;
// Keys that ALiBi slopes must spare a query to be worth a look at queries, keys and values.
constexpr double kSpared = 100;
constexpr double kPairSpared = 400;
// Keys and values below this stay in the second-level cache by themselves.
constexpr std::int64_t kNearCache = std::int64_t{1} << 20;
constexpr std::int64_t kTaskBytes = std::int64_t{1} << 20;

// A finite bias stays finite in a narrower type: masks are made of the lowest number, and only
// -inf takes a key out.
template <class T, class Wide>
T narrowed(Wide bias) {
  constexpr Wide kMost = std::numeric_limits<T>::max();
  constexpr Wide kFinite = std::numeric_limits<Wide>::max();
  const Wide held = bias < -kMost ? -kMost : (bias > kMost ? kMost : bias);
  return static_cast<T>(bias < -kFinite || bias > kFinite ? bias : held);
}

template <class T>
const kernels::PairMultiplier* multiplier_for(const ResolvedAttention& problem,
                                              const TileSource<T>& source) {
  const bool pairs = std::is_same_v<T, float> && multiplies_pairs(problem, source.stored_dtype());
  return pairs ? kernels::pair_multiplier() : nullptr;
}

}  // namespace

template <class T>
FusedCall<T>::FusedCall(const ResolvedAttention& resolved, int threads, CallWorkspaces& workspaces,
                        Pairs pairs)
    : problem(resolved),
      kernels(kernels::forward_kernels<T>()),
      vectors(resolved.queries <= kernels.lanes ? 1 : 2),
      panel(vectors * kernels.lanes),
      map(resolved, panel, threads, workspaces.map),
      offset_bias(resolved, kernels.per_nat, panel, workspaces.bias),
      relative_keys(resolved, workspaces.relative),
      tiles(resolved),
      source(tiles.source()),
      multiplier(pairs == Pairs::multiplied ? multiplier_for<T>(resolved, source) : nullptr),
      reach(resolved, source, multiplier == nullptr ? kSpared : kPairSpared, threads,
            workspaces.reach),
      pair_kernels(kernels::pair_kernels()),
      grain(multiplier == nullptr ? 1 : kernels::kPairGrain),
      value_rows(multiplier == nullptr ? resolved.value_width
                                       : (resolved.value_width + 15) / 16 * 16) {
  const std::int64_t queries = problem.queries;
  const std::int64_t bytes =
      (problem.width + problem.value_width) * panel * static_cast<std::int64_t>(sizeof(T));
  std::int64_t panels =
      std::max(1, (multiplier == nullptr ? kTaskQueries : kPairTaskQueries) / panel);
  panels =
      std::max<std::int64_t>(1, std::min(panels, kTaskBytes / std::max<std::int64_t>(bytes, 1)));
  const std::int64_t all = (queries + panel - 1) / panel;
  const std::int64_t planes = problem.batch * problem.heads;
  // Short of tasks for the threads: cut finer. No bit depends on the cut.
  while (threads > 1 && panels > 1 && planes * ((all + panels - 1) / panels) < 4 * threads) {
    panels = (panels + 1) / 2;
  }
  panels_per_task =
      static_cast<int>(std::min<std::int64_t>(panels, std::max<std::int64_t>(all, 1)));
  tasks_per_head = (all + panels_per_task - 1) / panels_per_task;
  const std::int64_t key_bytes = problem.batch * problem.key_heads * problem.keys *
                                 (problem.width + problem.value_width) *
                                 static_cast<std::int64_t>(sizeof(T));
  fetch_ahead = source.in_place() && panels_per_task > 1 && key_bytes > kNearCache;
  walk_bytes = PanelWalk<T>::bytes(*this, panels_per_task);
}

template <class T>
std::size_t PanelWalk<T>::carve(void* base, int panels, bool moment) {
  const ResolvedAttention& problem = call_.problem;
  const std::int64_t width = call_.panel;
  const bool choice = problem.query_segments.present || problem.keep.present;
  const bool biased =
      problem.bias.present || problem.query_positions.present || problem.key_positions.present;
  const bool rows = problem.dtype != dtype_of<T> || problem.q.stride[3] != 1;
  Carver carver(base);
  exclusion_ = carver.take<PanelExclusion>(panels);
  query_ = carver.take<std::int64_t>(panels);
  count_ = carver.take<int>(panels);
  started_ = carver.take<int>(panels);
  queries_ = carver.take<T>(panels * width * problem.width);
  out_ = carver.take<T>(panels * width * call_.value_rows);
  maximum_ = carver.take<T>(panels * width);
  sum_ = carver.take<T>(panels * width);
  moment_ = moment ? carver.take<T>(panels * width) : nullptr;
  scores_ = carver.take<T>(kTile * width);
  bias_ = biased ? carver.take<T>(kTile * width) : nullptr;
  select_ = choice ? carver.take<T>(kTile * width) : nullptr;
  factors_ = problem.dropout > 0 ? carver.take<T>(kTile * width) : nullptr;
  first_ = carver.take<T>(width);
  last_ = carver.take<T>(width);
  diagonal_ = call_.offset_bias.present() ? carver.take<T>(kTile + width) : nullptr;
  scratch_ = carver.take<T>(call_.source.scratch_size());
  // Rows of queries on the way in, of outputs on the way out.
  rows_ = carver.take<T>(width * std::max(rows ? problem.width : 0, problem.value_width));
  statistic_ = carver.take<T>(width);
  const bool relative = call_.relative_keys.present();
  relative_ = carver.take<T>(relative ? kTile * width : 0);
  products_ = carver.take<T>(relative ? RelativeKeys<T>::kMost * width : 0);
  return carver.used();
}

template <class T>
PanelWalk<T>::PanelWalk(const FusedCall<T>& call, int panels, bool moment, Workspace& workspace)
    : call_(call) {
  carve(workspace.at_least(call.walk_bytes), panels, moment);
}

template <class T>
PanelWalk<T>::PanelWalk(const FusedCall<T>& call, int panels, bool moment, void* memory)
    : call_(call) {
  carve(memory, panels, moment);
}

template <class T>
std::size_t PanelWalk<T>::bytes(const FusedCall<T>& call, int panels) {
  return PanelWalk(call).carve(nullptr, panels, true);
}

template <class T>
void PanelWalk<T>::open(int slot, std::int64_t b, std::int64_t h, std::int64_t query, int count) {
  const ResolvedAttention& problem = call_.problem;
  const int panel = call_.panel;
  const T per_nat = call_.kernels.per_nat;
  b_ = b;
  h_ = h;
  query_[slot] = query;
  count_[slot] = count;
  exclude_by_index(problem, b, query, count, exclusion_[slot]);
  call_.reach.narrow(b, h, query, count, exclusion_[slot]);

  T maximum = -std::numeric_limits<T>::infinity();
  T sum = 0;
  if (problem.sinks.present) {
    maximum = static_cast<T>(problem.sinks.value(h, 0)) * per_nat;
    sum = maximum == -std::numeric_limits<T>::infinity() ? T{0} : T{1};
  }
  std::fill_n(this->maximum(slot), panel, maximum);
  std::fill_n(this->sum(slot), panel, sum);
  if (moment_ != nullptr) std::fill_n(moment(slot), panel, T{0});
  started_[slot] = 0;
  if (call_.multiplier == nullptr) load_queries(slot);
}

template <class T>
T PanelWalk<T>::query_factor() const {
  const ResolvedAttention& problem = call_.problem;
  // Under a cap the tanh takes scale * q.k / cap, and the cap carries the unit.
  return problem.softcap > 0
             ? static_cast<T>(problem.scale / problem.softcap)
             : static_cast<T>(problem.scale * static_cast<double>(call_.kernels.per_nat));
}

template <class T>
void PanelWalk<T>::load_queries(int slot) {
  const Strided4& q = call_.problem.q;
  const std::int64_t offset = q.offset(b_, h_, query_[slot], 0);
  const int panel = call_.panel;
  const int count = count_[slot];
  const int width = static_cast<int>(call_.problem.width);
  const T* rows = static_cast<const T*>(q.data) + offset;
  std::int64_t row_stride = q.stride[2];
  if (q.dtype != dtype_of<T> || (q.stride[3] != 1 && width > 1)) {
    load_rows(q, offset, q.stride[2], q.stride[3], count, width, rows_);
    rows = rows_;
    row_stride = width;
  }
  call_.kernels.transpose(rows, row_stride, count, width, query_factor(),
                          queries_ + static_cast<std::int64_t>(slot) * panel * width, panel);
}

template <class T>
void PanelWalk<T>::add_dense_bias(std::int64_t query, int count, std::int64_t from, int keys) {
  const Strided4& bias = call_.problem.bias;
  const int panel = call_.panel;
  const std::int64_t start = bias.offset(b_, h_, query, from);
  if (bias.dtype == dtype_of<T> && bias.stride[3] == 1 && bias.stride[2] != 0) {
    const T* rows = static_cast<const T*>(bias.data) + start;
    // Short pieces of far rows: no hardware foresees the next tile's, so ask for them.
    for (int i = 0; from + 2 * keys <= call_.problem.keys && i < count; ++i) {
      const T* next = rows + i * bias.stride[2] + keys;
      for (int j = 0; j < keys; j += 64 / static_cast<int>(sizeof(T))) {
        __builtin_prefetch(next + j, 0, 2);
      }
    }
    call_.kernels.transpose(rows, bias.stride[2], count, keys, T{1}, bias_, panel);
    return;
  }
  visit_dtype(bias.dtype, [&](auto zero) {
    using Element = decltype(zero);
    const Element* place = static_cast<const Element*>(bias.data) + start;
    const auto read = [](Element value) {
      if constexpr (std::is_same_v<Element, Float16> || std::is_same_v<Element, BFloat16>) {
        return static_cast<T>(to_float(value));
      } else if constexpr (std::is_same_v<Element, double>) {
        return value;
      } else {
        return static_cast<T>(value);
      }
    };
    for (int j = 0; j < keys; ++j) {
      const Element* column = place + j * bias.stride[3];
      T* row = bias_ + j * panel;
      if (bias.stride[2] == 0) {
        std::fill_n(row, panel, narrowed<T>(read(*column)));
        continue;
      }
      for (int i = 0; i < count; ++i) row[i] = narrowed<T>(read(column[i * bias.stride[2]]));
      for (int i = count; i < panel; ++i) row[i] = 0;
    }
  });
}

template <class T>
bool PanelWalk<T>::prepare(int slot, const KeyValueTile<T>& tile, std::int64_t from,
                           std::int64_t to, kernels::TileStep<T>& step, int& shift) {
  const ResolvedAttention& problem = call_.problem;
  const PanelExclusion& exclusion = exclusion_[slot];
  const int panel = call_.panel;
  const int count = count_[slot];
  const std::int64_t query = query_[slot];
  shift = static_cast<int>(std::max<std::int64_t>(0, exclusion.any_first - from));
  to = std::min(to, exclusion.any_last);
  if (from + shift >= to) return false;
  // Whole grains of the tile; what nobody sees of them is excluded like anything else.
  const std::int64_t grain = call_.grain;
  const std::int64_t tile_end = from + (to - from + grain - 1) / grain * grain;
  to = std::min(tile_end, std::min(from + kTile, problem.keys));
  shift = shift / static_cast<int>(grain) * static_cast<int>(grain);
  from += shift;
  const TileVerdict verdict = call_.map.verdict(b_, h_, query, count, exclusion, from, to);
  if (verdict.kind == TileKind::skipped) return false;

  const int keys = static_cast<int>(to - from);
  step.k = tile.k + shift * tile.k_stride;
  step.k_stride = tile.k_stride;
  step.v = tile.v + shift * tile.v_stride;
  step.v_stride = tile.v_stride;
  step.keys = keys;
  step.width = static_cast<int>(problem.width);
  step.value_width = static_cast<int>(problem.value_width);
  step.vectors = step.across = call_.vectors;
  step.queries = queries_ + static_cast<std::int64_t>(slot) * panel * problem.width;
  step.scores = scores_;
  step.out = out(slot);
  step.maximum = maximum(slot);
  step.sum = sum(slot);
  step.moment = moment(slot);
  step.cap = static_cast<T>(problem.softcap * static_cast<double>(call_.kernels.per_nat));
  step.diagonal = step.bias = step.relative = nullptr;
  step.first = step.last = step.select = step.factors = nullptr;
  step.key_base = 0;
  step.fresh = false;
  step.next_k = step.next_v = nullptr;
  step.guarded = false;

  if (call_.relative_keys.present()) {
    call_.relative_keys.fill(b_, h_, query, count, from, panel, products_, relative_, step);
  }
  if (problem.bias.present) {
    add_dense_bias(query, count, from, keys);
    step.bias = bias_;
  }
  if (call_.offset_bias.present()) {
    step.diagonal = call_.offset_bias.diagonal(b_, h_, query, count, from, keys, diagonal_);
    if (step.diagonal == nullptr) {
      if (step.bias == nullptr) std::fill_n(bias_, keys * panel, T{0});
      call_.offset_bias.add(b_, h_, query, count, from, keys, panel, bias_);
      step.bias = bias_;
    }
  }
  if (verdict.by_index) {
    for (int x = 0; x < count; ++x) {
      first_[x] = static_cast<T>(std::clamp<std::int64_t>(exclusion.first[x] - from, 0, keys));
      last_[x] = static_cast<T>(std::clamp<std::int64_t>(exclusion.last[x] - from, 0, keys));
    }
    std::fill(first_ + count, first_ + panel, T{0});
    std::fill(last_ + count, last_ + panel, T{0});
    step.first = first_;
    step.last = last_;
    step.all_first =
        static_cast<int>(std::clamp<std::int64_t>(exclusion.all_first - from, 0, keys));
    step.all_last =
        static_cast<int>(std::clamp<std::int64_t>(exclusion.all_last - from, step.all_first, keys));
  }
  if (verdict.by_choice) {
    call_.map.fill(b_, h_, query, count, from, to, select_);
    step.select = select_;
  }
  if (factors_ != nullptr) {
    kernels::dropout_kernels<T>().factors(dropout_stream(problem, b_, h_), query, from, keys, panel,
                                          factors_);
    step.factors = factors_;
  }
  return true;
}

template <class T>
kernels::TileStep<T> PanelWalk<T>::part(const kernels::TileStep<T>& step,
                                        const StepCut& cut) const {
  const auto [from, to, vector, vectors] = cut;
  const int panel = call_.panel;
  const int lane = vector * call_.kernels.lanes;
  kernels::TileStep<T> part = step;
  part.k += from * step.k_stride;
  part.v += from * step.v_stride;
  part.keys = to - from;
  part.vectors = vectors;
  part.queries += lane;
  part.scores += lane;
  part.out += lane;
  part.maximum += lane;
  part.sum += lane;
  if (step.moment != nullptr) part.moment += lane;
  if (step.diagonal != nullptr) part.diagonal += lane - from;
  if (step.bias != nullptr) part.bias += from * panel + lane;
  if (step.relative != nullptr) part.relative += from * step.relative_stride + lane;
  part.first += lane;
  part.last += lane;
  part.key_base = from;
  part.all_first = std::clamp(step.all_first - from, 0, part.keys);
  part.all_last = std::clamp(step.all_last - from, part.all_first, part.keys);
  if (step.select != nullptr) part.select += from * panel + lane;
  if (step.factors != nullptr) part.factors += from * panel + lane;
  if (from > 0) part.next_k = part.next_v = nullptr;
  return part;
}

template <class T>
int PanelWalk<T>::split(int slot, const kernels::TileStep<T>& step, StepCut cuts[3]) const {
  // Fewer keys than this are cheaper computed and thrown away than walked apart.
  constexpr int kWorthwhile = 8;
  const int lanes = call_.kernels.lanes;
  const int count = count_[slot];
  if (step.first == nullptr || step.vectors == 1 || count <= lanes) return 0;
  // The ends of the intervals rise with the queries, so a vector's hull is the ends of the first
  // and the last of its queries that see anything.
  const PanelExclusion& exclusion = exclusion_[slot];
  int low[2] = {step.keys, step.keys};
  int high[2] = {0, 0};
  for (int vector = 0; vector < 2; ++vector) {
    int front = vector * lanes;
    int back = std::min(count, front + lanes) - 1;
    while (front <= back && exclusion.first[front] >= exclusion.last[front]) ++front;
    while (back >= front && exclusion.first[back] >= exclusion.last[back]) --back;
    if (front > back) continue;
    low[vector] = static_cast<int>(first_[front]);
    high[vector] = static_cast<int>(last_[back]);
  }
  int count_of_cuts = 0;
  const auto add = [&](int from, int to, int vector, int vectors) {
    if (from < to) cuts[count_of_cuts++] = {from, to, vector, vectors};
  };
  const int from = std::max(low[0], low[1]);
  const int to = std::min(high[0], high[1]);
  if (from >= to) {  // no key in common; the earlier vector's keys come first, if it has any
    const int earlier = low[0] <= low[1] ? 0 : 1;
    add(low[earlier], high[earlier], earlier, 1);
    add(low[1 - earlier], high[1 - earlier], 1 - earlier, 1);
    return count_of_cuts;
  }
  const int begin = std::min(low[0], low[1]);
  const int end = std::max(high[0], high[1]);
  if ((from - begin) + (end - to) < kWorthwhile) return 0;
  add(begin, from, low[0] < low[1] ? 0 : 1, 1);
  add(from, to, 0, 2);
  add(to, end, high[0] > high[1] ? 0 : 1, 1);
  return count_of_cuts;
}

template <class T>
void PanelWalk<T>::clear_vector(int slot, int vector) {
  T* place = out(slot) + vector * call_.kernels.lanes;
  for (std::int64_t e = 0; e < call_.problem.value_width; ++e, place += call_.panel) {
    std::fill_n(place, call_.kernels.lanes, T{0});
  }
}

template <class T>
void PanelWalk<T>::start(int slot, kernels::TileStep<T>& step) {
  const int vector = static_cast<int>(step.out - out(slot)) / call_.kernels.lanes;
  const int mine = (step.vectors == 2 ? 3 : 1) << vector;
  const int before = started_[slot] & mine;
  step.fresh = before == 0;
  if (!step.fresh && before != mine) clear_vector(slot, before == 1 ? 1 : 0);
  started_[slot] |= mine;
}

template <class T>
void PanelWalk<T>::complete(int slot) {
  for (int vector = 0; vector < call_.vectors; ++vector) {
    if ((started_[slot] >> vector & 1) == 0) clear_vector(slot, vector);
  }
}

template struct FusedCall<float>;
template struct FusedCall<double>;
template class PanelWalk<float>;
template class PanelWalk<double>;

}  // namespace volvelle
