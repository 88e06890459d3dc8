#pragma once

#include <cstdint>

#include "kernels/row_type.h"

namespace volvelle::kernels {

/// Rows to be normalised: y = (x - mean) / sqrt(variance + epsilon) * factors + bias, or without
/// the mean where `centred` is false. Rows lie next to each other. What is not said to be stored
/// is float, double where x is float64 (then y is as well).
struct NormStep {
  RowType x_type = RowType::float32;
  RowType y_type = RowType::float32;
  const void* x = nullptr;
  void* y = nullptr;
  const void* factors = nullptr;
  const void* bias = nullptr;  ///< null: none
  void* statistics = nullptr;  ///< kNormStatistics a row are written there; null: not wanted
  std::int64_t rows = 0;
  std::int64_t width = 0;
  double epsilon = 0;
  bool centred = true;
};

/// Of a row: its mean rounded; 1 / sqrt(variance + epsilon); what the rounded mean lacks, times
/// that, with its sign turned. (x - first) * second + third is the normalised element.
inline constexpr int kNormStatistics = 3;

/// Gradients of the above. Sums over the rows are added to what is there, row after row.
struct NormBackwardStep {
  RowType x_type = RowType::float32;  ///< of grad_x too
  RowType y_type = RowType::float32;  ///< of grad_y
  const void* x = nullptr;
  const void* grad_y = nullptr;
  const void* factors = nullptr;
  const void* statistics = nullptr;
  void* grad_x = nullptr;   ///< null: not wanted; may be grad_y itself where the types are the same
  bool accumulate = false;  ///< into grad_x
  void* factor_sums = nullptr;  ///< of grad_y * normalised x; null: neither sum is wanted
  void* bias_sums = nullptr;    ///< of grad_y; null only where the other is
  std::int64_t rows = 0;
  std::int64_t width = 0;
  bool centred = true;
};

/// On the instruction set in use.
void norm_forward(const NormStep& step);
void norm_backward(const NormBackwardStep& step);

/// `count` rows of partial sums, each `stride` after the last, added up in order; float, double
/// for float64.
struct PartialSums {
  RowType type = RowType::float32;
  const void* from = nullptr;
  std::int64_t count = 0;
  std::int64_t stride = 0;
  std::int64_t width = 0;
  void* to = nullptr;
  bool accumulate = false;
};
void add_partial_sums(const PartialSums& sums);

}  // namespace volvelle::kernels
