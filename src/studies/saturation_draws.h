#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "studies/softmax_rows.h"
#include "volvelle/studies/saturation.h"
#include "volvelle/studies/study.h"

namespace volvelle {

/// A way to divide scores before the softmax.
struct ScoreDivisor {
  const char* key;   ///< in JSON
  const char* name;  ///< in text and charts
  double (*scale)(std::int64_t width, std::int64_t tokens);
};
inline constexpr std::size_t kDivisors = 4;
const std::array<ScoreDivisor, kDivisors>& score_divisors();

/// Index of each in score_divisors().
inline constexpr std::size_t kUnscaled = 0, kByRoot = 1, kByWidth = 2, kByTokens = 3;

/// Mean and range over draws.
struct DrawnFigure {
  double mean = 0, low = INFINITY, high = -INFINITY;
  std::int64_t count = 0;
  void add(double value);
};

struct DrawnFigures {
  DrawnFigure spread, entropy, largest, gradient, query_gradient;
  void add(const SoftmaxFigures& figures);
};

/// One width under every divisor.
struct WidthFigures {
  std::int64_t width = 0;
  std::array<DrawnFigures, kDivisors> by;
  std::int64_t draws = 0;  ///< fewer than asked for where the study was stopped
};

struct DrawPlan {
  std::int64_t width = 0;
  std::int64_t filled = 0;   ///< entries of a query or key that are drawn; the rest are 0
  std::uint64_t stream = 0;  ///< of the seed's Philox streams, the first of 2^32
};

/// Draws queries and keys again and again and measures each. `begins` is told how many draws are
/// done, and returns false to stop.
WidthFigures draw_width(const DrawPlan& plan, const SaturationOptions& options, int threads,
                        const std::function<bool(std::int64_t)>& begins);

}  // namespace volvelle
