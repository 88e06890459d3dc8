#pragma once

#include <cstdint>

#include "kernels/row_type.h"

namespace volvelle::kernels {

/// Rows of logits, next to each other, and the class of each: -1 where the row does not count.
struct CrossEntropyRows {
  RowType type = RowType::float32;
  const void* logits = nullptr;
  const std::int64_t* labels = nullptr;
  std::int64_t rows = 0;
  std::int64_t width = 0;
  double smoothing = 0;        ///< share of the target that goes to all classes alike
  double* losses = nullptr;    ///< one a row; 0 where it does not count
  void* statistics = nullptr;  ///< kCrossEntropyStatistics a row; null: not wanted
};

/// Of a row: its largest logit, and 1 / sum of e^(logit - largest); float, double for float64.
inline constexpr int kCrossEntropyStatistics = 2;

/// grad = scale * (softmax(logits) - target), 0 in rows that do not count.
struct CrossEntropyBackwardRows {
  RowType type = RowType::float32;
  const void* logits = nullptr;
  const std::int64_t* labels = nullptr;
  const void* statistics = nullptr;
  std::int64_t rows = 0;
  std::int64_t width = 0;
  double smoothing = 0;
  double scale = 1;
  void* grad = nullptr;  ///< may be the logits themselves
  bool accumulate = false;
};

/// On the instruction set in use.
void cross_entropy_forward(const CrossEntropyRows& rows);
void cross_entropy_backward(const CrossEntropyBackwardRows& rows);

}  // namespace volvelle::kernels
