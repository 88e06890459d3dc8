#include "ops/left_block.h"

#include <algorithm>

#include "kernels/matmul_pack.h"

namespace volvelle {
namespace {

// Columns that are widened at a time.
constexpr int kLines = 32;

void transpose_lines(const Matrix& matrix, int rows, int depth, float* to) {
  const kernels::PackKernels& pack = kernels::pack_kernels();
  if (matrix.dtype == DType::float32) {
    pack.transpose(static_cast<const float*>(matrix.data), matrix.column, depth, rows, to,
                   kLeftPitch);
    return;
  }
  alignas(64) float wide[kLines * kLeftPitch];
  for (int first = 0; first < depth; first += kLines) {
    const int lines = std::min(kLines, depth - first);
    for (int i = 0; i < lines; ++i) {
      read_line(matrix.at(0, first + i).data, matrix.dtype, 1, rows, wide + i * kLeftPitch);
    }
    pack.transpose(wide, kLeftPitch, lines, rows, to + first, kLeftPitch);
  }
}

}  // namespace

LeftBlock left_block(const Matrix& matrix, std::int64_t rows, int depth, float* scratch) {
  // Many rows a multiple of 8 KiB apart meet in a few sets of the second-level cache.
  const bool crowded = rows > kFewRows && matrix.row % 2048 == 0;
  if (matrix.dtype == DType::float32 && matrix.column == 1 && !crowded) {
    return {static_cast<const float*>(matrix.data), matrix.row, 1};
  }
  if (matrix.row == 1 && rows > 1) {  // its columns are what lies next to each other
    transpose_lines(matrix, static_cast<int>(rows), depth, scratch);
    return {scratch, kLeftPitch, 1};
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    read_line(matrix.at(r, 0).data, matrix.dtype, matrix.column, depth, scratch + r * kLeftPitch);
  }
  return {scratch, kLeftPitch, 1};
}

}  // namespace volvelle
