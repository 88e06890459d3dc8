#include <algorithm>

#include "attention/few_queries.h"
#include "attention/fused.h"
#include "attention/fused_walk.h"
#include "base/kept_by_thread.h"

namespace volvelle {
namespace {

TileCounts count_pieces(const ResolvedAttention& problem, const TileMap& map, int panel) {
  TileCounts counts;
  counts.queries = panel;
  counts.keys = kernels::kTileKeys;
  const bool heads_differ = problem.keep.present && problem.keep.stride[1] != 0;
  const std::int64_t distinct_heads = heads_differ ? problem.heads : 1;
  const std::int64_t share = problem.heads / distinct_heads;
  PanelExclusion exclusion;
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    for (std::int64_t query = 0; query < problem.queries; query += panel) {
      const int count = static_cast<int>(std::min<std::int64_t>(panel, problem.queries - query));
      exclude_by_index(problem, b, query, count, exclusion);
      for (std::int64_t h = 0; h < distinct_heads; ++h) {
        for (std::int64_t from = 0; from < problem.keys; from += counts.keys) {
          const std::int64_t to = std::min(from + counts.keys, problem.keys);
          switch (map.verdict(b, h, query, count, exclusion, from, to).kind) {
            case TileKind::skipped:
              counts.skipped += share;
              break;
            case TileKind::full:
              counts.full += share;
              break;
            case TileKind::partial:
              counts.partial += share;
              break;
          }
        }
      }
    }
  }
  return counts;
}

template <class T>
TileCounts count_as(const ResolvedAttention& problem, int threads) {
  const FusedCall<T> call(problem, threads, kept_by_thread<CallWorkspaces>());
  return count_pieces(problem, call.map, call.panel);
}

}  // namespace

TileCounts count_tiles(const ResolvedAttention& problem, int threads) {
  if (has_few_queries(problem)) {
    const TileMap map(problem, kFewQueries, threads, kept_by_thread<CallWorkspaces>().map);
    return count_pieces(problem, map, kFewQueries);
  }
  return problem.dtype == DType::float64 ? count_as<double>(problem, threads)
                                         : count_as<float>(problem, threads);
}

}  // namespace volvelle
