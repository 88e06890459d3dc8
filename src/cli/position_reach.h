#pragma once

#include <cstdint>
#include <string>

#include "volvelle/attention/problem.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle::cli {

/// Positions lie below this; attention refuses others that it reads.
inline constexpr std::int64_t kPositionEnd = std::int64_t{1} << 30;

/// How far the positions of a problem reach, for tables and for scalings by length. What is beyond
/// +-kPositionEnd counts as that, and arrays that do not fit the problem count as absent: attention
/// itself says what is wrong with them.
struct PositionReach {
  /// 1 + the largest of all positions, padding's among them: a table must have it as well.
  std::int64_t positions = 1;
  /// (B) int64: 1 + the largest of each row's tokens. Padding is none of them: keys beyond
  /// key_lengths and, where there are as many queries as keys, the queries at their places.
  Tensor row_lengths;
};

PositionReach position_reach(const AttentionProblem& problem);

/// The first of some integers that is beyond +-kPositionEnd, as text; empty: none is.
std::string position_beyond(const View& positions);

}  // namespace volvelle::cli
