#pragma once

#include <cstdint>

#include "volvelle/tensor/view.h"

namespace volvelle {

/// A view of rank 4 at most on four axes; missing leading axes have length 1. Strides of axes of
/// length 1 are 0.
struct FourAxes {
  View view;
  std::int64_t shape[4] = {1, 1, 1, 1};
  std::int64_t stride[4] = {0, 0, 0, 0};

  explicit FourAxes(const View& any);
  std::int64_t rows() const { return shape[0] * shape[1] * shape[2]; }
  /// Reads the row along the last axis into `row`, shape[3] numbers.
  void read(std::int64_t batch, std::int64_t head, std::int64_t index, double* row) const;
};

/// Root mean square of the finite ones of `count` numbers; 0 when there are none.
double root_mean_square(const double* values, std::int64_t count);

}  // namespace volvelle
