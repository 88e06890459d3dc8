#include "attention/backward_call.h"

#include <algorithm>

#include "attention/carver.h"

namespace volvelle {
namespace {

constexpr std::int64_t kTile = kernels::kTileKeys;
// Queries over which a block of the keys' gradients stays in registers, so that loading and storing
// it costs little; their rows, weights and gradients of scores fit the second-level cache.
constexpr std::int64_t kGroupQueries = 128;
constexpr int kMostPanels = 8;
// Tiles in a task's block of keys: its queries are brought into lanes once per block.
constexpr std::int64_t kBlockTiles = 8;
constexpr std::int64_t kBlockBytes = std::int64_t{1} << 20;

std::int64_t rounded_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

template <class T>
BackwardCall<T>::BackwardCall(const ResolvedAttention& resolved, const ResolvedAttention& given,
                              const ResolvedBackward& arrays, int threads,
                              BackwardWorkspaces& workspaces)
    : problem(resolved),
      backward(arrays),
      query_turn(given, TurnedRows::queries),
      key_turn(given, TurnedRows::keys),
      forward(resolved, threads, workspaces.forward),
      kernels(kernels::backward_kernels<T>()),
      bias(resolved, arrays, workspaces.bias),
      offsets(resolved, arrays, forward.offset_bias, workspaces.tables),
      relative_keys(resolved, arrays, workspaces.relative) {
  forward.reach.require_finite(backward.grad_output, problem.value_width, threads);
  const std::int64_t panel = forward.panel;
  const std::int64_t lanes = forward.kernels.lanes;
  const std::int64_t panels = (problem.queries + panel - 1) / panel;
  group_panels = static_cast<int>(std::clamp<std::int64_t>(
      std::min<std::int64_t>(kGroupQueries / panel, panels), 1, kMostPanels));
  group_queries = group_panels * panel;
  groups = (problem.queries + group_queries - 1) / group_queries;
  forward.panels_per_task = group_panels;
  forward.walk_bytes = PanelWalk<T>::bytes(forward, group_panels);
  band = 2 * lanes;
  padded_width = rounded_up(problem.width, band);
  padded_value_width = rounded_up(problem.value_width, band);

  sets_batch = bias.joins_batch() ? 1 : problem.batch;
  sets_heads = bias.joins_heads() ? 1 : problem.key_heads;
  const std::int64_t tile_bytes =
      kTile * (padded_width + padded_value_width) * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t tiles = std::max<std::int64_t>((problem.keys + kTile - 1) / kTile, 1);
  std::int64_t block = std::clamp<std::int64_t>(kBlockBytes / tile_bytes, 1, kBlockTiles);
  block = std::min(block, tiles);
  const auto cut_for = [&](std::int64_t sets, std::int64_t wanted) {
    while (block > 1 && (tiles + block - 1) / block * sets < wanted) block = (block + 1) / 2;
  };
  if (sums_by_head()) {
    cut_for(problem.batch * problem.key_heads, 8);
  } else if (threads > 1) {
    cut_for(sets_batch * sets_heads, 4 * threads);
  }
  block_keys = block * kTile;
  blocks = (tiles + block - 1) / block;

  const std::int64_t planes = problem.batch * problem.heads;
  const std::int64_t rows = planes * groups * group_queries;
  const auto carve = [&](void* base) {
    Carver carver(base);
    lse = carver.take<T>(rows);
    delta = carver.take<T>(rows);
    sink_parts = carver.take<double>(backward.grad_sinks.present ? planes * groups : 0);
    ranges = carver.take<KeyRange>(planes * groups);
    return carver.used();
  };
  carve(workspaces.rows.at_least(carve(nullptr)));
  if (!backward.grad_sinks.present) sink_parts = nullptr;
  query_sums = nullptr;
  if (backward.grad_q.present && blocks > 1) {
    query_sums = static_cast<T*>(
        workspaces.sums.at_least(static_cast<std::size_t>(rows * problem.width) * sizeof(T)));
  }
  if (in_turn()) query_turns.open(planes * groups, workspaces.query_turns);
  if (sums_by_head()) head_turns.open(planes, workspaces.head_turns);
}

template struct BackwardCall<float>;
template struct BackwardCall<double>;

}  // namespace volvelle
