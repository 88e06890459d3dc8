#include "ops/left_block.h"

namespace volvelle {

LeftBlock left_block(const Matrix& matrix, std::int64_t rows, int depth, float* scratch) {
  if (matrix.dtype == DType::float32 && matrix.column == 1) {
    return {static_cast<const float*>(matrix.data), matrix.row, 1};
  }
  if (matrix.row == 1 && rows > 1) {  // a transposed operand: its columns are copied as lines
    for (int i = 0; i < depth; ++i) {
      read_line(matrix.at(0, i).data, matrix.dtype, 1, rows, scratch + i * kLeftPitch);
    }
    return {scratch, 1, kLeftPitch};
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    read_line(matrix.at(r, 0).data, matrix.dtype, matrix.column, depth, scratch + r * kLeftPitch);
  }
  return {scratch, kLeftPitch, 1};
}

}  // namespace volvelle
