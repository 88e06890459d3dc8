#pragma once

#include <cstdint>

#include "ops/left_block.h"
#include "ops/matrix.h"
#include "ops/panel_source.h"

namespace volvelle {

/// Rows of a bfloat16 left operand over some depth, as products of pairs read them: rows a
/// multiple of 16, depth a multiple of 32, zeros beyond what there is.
struct LeftPairs {
  const std::uint16_t* data = nullptr;
  std::int64_t row = 0;  ///< stride
};

inline constexpr std::int64_t kPairRows = 16;
inline constexpr std::int64_t kPairPitch = kPairDepth + 32;
/// Numbers of scratch that a block may need.
inline constexpr std::int64_t kPairScratch =
    (kTaskRows + kPairRows - 1) / kPairRows * kPairRows * kPairPitch;

/// `matrix` from its first element on, for depth at most kPairDepth: in place where it lies so,
/// else copied to `scratch`; `wide` holds kLeftScratch floats.
LeftPairs left_pairs(const Matrix& matrix, std::int64_t rows, int depth, std::uint16_t* scratch,
                     float* wide);

}  // namespace volvelle
