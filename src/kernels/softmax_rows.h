#pragma once

#include <cstdint>

#include "kernels/row_type.h"

namespace volvelle::kernels {

/// y = softmax(x) of rows that lie next to each other; y may be x.
struct SoftmaxRows {
  RowType type = RowType::float32;
  const void* x = nullptr;
  void* y = nullptr;
  std::int64_t rows = 0;
  std::int64_t width = 0;
};

/// grad_x = y * (grad_y - sum of grad_y * y); grad_x may be grad_y.
struct SoftmaxBackwardRows {
  RowType type = RowType::float32;
  const void* y = nullptr;
  const void* grad_y = nullptr;
  void* grad_x = nullptr;
  bool accumulate = false;
  std::int64_t rows = 0;
  std::int64_t width = 0;
};

/// On the instruction set in use.
void softmax_forward(const SoftmaxRows& rows);
void softmax_backward(const SoftmaxBackwardRows& rows);

}  // namespace volvelle::kernels
