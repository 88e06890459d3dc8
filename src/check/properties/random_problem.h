#pragma once

#include "check/properties/setting.h"

namespace volvelle::properties {

/// A problem with some of all options at once, lengths around the edges of tiles and vectors, and
/// no width above 80, no length above 140.
Setting random_problem(Draws& draws, DType dtype = DType::float32);

/// The longest sums of such a problem.
inline constexpr std::int64_t kWidestProblem = 80;
inline constexpr std::int64_t kLongestProblem = 140;

}  // namespace volvelle::properties
