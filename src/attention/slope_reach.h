#pragma once

#include <cstdint>

#include "attention/exclusion.h"
#include "attention/resolved.h"
#include "attention/tile_source.h"
#include "base/aligned_memory.h"

namespace volvelle {

/// How far from a query a key can have any weight under ALiBi slopes. With |q.k| <= |q||k| the
/// score of key j is at most r - slope |p - j|, and that of the nearest key seen, d0 away, at least
/// -r - slope d0, for r = |scale| max|q| max|k|: from 2 r + (what exp takes to nothing) over the
/// slope on, beyond d0, weights are exactly 0 in the kernels, and so are their gradients. Tiles
/// that hold such keys alone need not be walked; no bit depends on it. Known only where queries,
/// keys and values are finite, for 0 times infinity is not 0, and where distances are so short that
/// the kernels' biases differ as exact ones do.
template <class T>
class SlopeReach {
 public:
  /// Reads queries, keys and values once where slopes are so steep that `worthwhile` keys of a
  /// query may be expected to weigh nothing, else nothing. `workspace` must outlive it.
  SlopeReach(const ResolvedAttention& problem, const TileSource<T>& source, double worthwhile,
             int threads, Workspace& workspace);

  /// Rows of (B,H,T,width) that must be finite too.
  void require_finite(const Strided4& rows, std::int64_t width, int threads);

  /// Takes tiles without any weight off the hull of what the queries see, at tile boundaries.
  void narrow(std::int64_t b, std::int64_t h, std::int64_t query, int count,
              PanelExclusion& panel) const;

 private:
  void measure_keys(const TileSource<T>& source, int threads, double* lengths) const;
  void measure_queries(int threads, const double* key_lengths);

  const ResolvedAttention& problem_;
  double* reach_ = nullptr;  // (B,H): keys further from a query than its nearest one by this have
                             // no weight; infinite: unknown. null: no slope is steep enough
};

}  // namespace volvelle
