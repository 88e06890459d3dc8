#pragma once

#include "check/properties/setting.h"

namespace volvelle::properties {

/// A problem with some of all options at once and lengths around the edges of tiles and vectors;
/// few queries may meet many keys.
Setting random_problem(RandomNumbers& draws, DType dtype = DType::float32);

/// The longest sums of such a problem.
inline constexpr std::int64_t kWidestProblem = 80;
inline constexpr std::int64_t kLongestProblem = 700;
/// And about the largest score, by its biases.
inline constexpr double kLargestScore = 200;

}  // namespace volvelle::properties
