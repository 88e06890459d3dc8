#pragma once

#include <cstdint>

#include "kernels/matmul.h"
#include "ops/matrix.h"
#include "ops/product_cut.h"

namespace volvelle {

/// Some rows of a left operand over one block of depth, as the kernels read them.
struct LeftBlock {
  const float* data = nullptr;
  std::int64_t row = 0, step = 1;  ///< strides
};

/// Between lines of a copied block: a little more than a block is deep, so that lines do not meet
/// in the same few sets of the cache.
inline constexpr std::int64_t kLeftPitch = 272;
static_assert(kLeftPitch >= kernels::kDepthBlock && kLeftPitch >= kTaskRows);
/// Floats of scratch that a block may need.
inline constexpr std::int64_t kLeftScratch = kLeftPitch * (kTaskRows > 256 ? kTaskRows : 256);

/// `matrix` from its first element on: in place where it is float32 whose rows are read along
/// memory, else copied to `scratch`.
LeftBlock left_block(const Matrix& matrix, std::int64_t rows, int depth, float* scratch);

}  // namespace volvelle
