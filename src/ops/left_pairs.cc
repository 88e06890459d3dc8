#include "ops/left_pairs.h"

#include <algorithm>
#include <cstring>

#include "kernels/convert.h"

namespace volvelle {
namespace {

void copy_rows(const Matrix& matrix, std::int64_t rows, int depth, std::uint16_t* to) {
  for (std::int64_t r = 0; r < rows; ++r, to += kPairPitch) {
    const std::uint16_t* from = static_cast<const std::uint16_t*>(matrix.at(r, 0).data);
    if (matrix.column == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(depth) * sizeof *to);
    } else {
      for (int i = 0; i < depth; ++i) to[i] = from[i * matrix.column];
    }
  }
}

// A transposed operand goes through float32 and comes back exactly, a block of depth at a time.
void copy_columns(const Matrix& matrix, std::int64_t rows, int depth, std::uint16_t* to,
                  float* wide) {
  for (int first = 0; first < depth; first += kernels::kDepthBlock) {
    const int some = std::min(kernels::kDepthBlock, depth - first);
    const LeftBlock block = left_block(matrix.at(0, first), rows, some, wide);
    for (std::int64_t r = 0; r < rows; ++r) {
      kernels::convert_kernels().narrow_bfloat16(block.data + r * block.row, some,
                                                 to + r * kPairPitch + first);
    }
  }
}

}  // namespace

LeftPairs left_pairs(const Matrix& matrix, std::int64_t rows, int depth, std::uint16_t* scratch,
                     float* wide) {
  // Many rows a multiple of 8 KiB apart meet in a few sets of the second-level cache.
  const bool crowded = rows > kFewRows && matrix.row % 4096 == 0;
  if (matrix.column == 1 && rows % kPairRows == 0 && depth % 32 == 0 && !crowded) {
    return {static_cast<const std::uint16_t*>(matrix.data), matrix.row};
  }
  if (matrix.row == 1 && matrix.column != 1 && rows > 1) {
    copy_columns(matrix, rows, depth, scratch, wide);
  } else {
    copy_rows(matrix, rows, depth, scratch);
  }
  const std::int64_t all_rows = (rows + kPairRows - 1) / kPairRows * kPairRows;
  const int whole = (depth + 31) / 32 * 32;
  for (std::int64_t r = 0; r < all_rows; ++r) {
    std::uint16_t* const row = scratch + r * kPairPitch;
    std::fill(row + (r < rows ? depth : 0), row + whole, std::uint16_t{0});
  }
  return {scratch, kPairPitch};
}

}  // namespace volvelle
