#pragma once

#include <functional>
#include <vector>

#include "volvelle/tensor/tensor.h"

namespace volvelle::testing {

/// How the same numbers lie in memory.
enum class Layout {
  contiguous,
  bthd,      ///< axes 1 and 2 exchanged in memory, as (B,T,H,D) is
  fused,     ///< one of three slices of a (...,T,3,H,D) buffer, NaN in the others
  reversed,  ///< negative strides on the last two axes
  gapped,    ///< every second element along each axis, NaN between
};

/// Fills a tensor of any dtype; `value` is asked in row-major order.
Tensor filled(DType dtype, const Shape& shape, const std::function<double()>& value);

/// A tensor of the numbers listed.
Tensor listed(DType dtype, const Shape& shape, const std::vector<double>& values);

/// Sets one element, counted from the view's data.
void set_element(void* data, DType dtype, std::int64_t offset, double value);

/// A copy of `from` in another layout, and the memory that holds it.
struct LaidOut {
  Tensor memory;
  View view;
  MutableView writable;
};
LaidOut laid_out(const Tensor& from, Layout layout);

/// All elements of a view in row-major order.
std::vector<double> values_of(const View& view);

}  // namespace volvelle::testing
