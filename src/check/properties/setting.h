#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/random_numbers.h"
#include "tensor/slice.h"
#include "volvelle/attention/problem.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle::properties {

/// A problem and the memory that its views look at.
struct Setting {
  AttentionProblem problem;
  std::vector<Tensor> memory;

  /// Keeps the tensor and gives a view of it.
  View own(Tensor tensor);
  /// The numbers listed, as int64.
  View integers(const Shape& shape, const std::vector<std::int64_t>& values);
  /// The numbers listed, as float32.
  View reals(const Shape& shape, const std::vector<double>& values);
};

/// B, G, H/G, T, S, D, E and the dtype of q, k and v.
struct Sizes {
  std::int64_t batch = 1, key_heads = 1, group = 1, queries = 1, keys = 1;
  std::int64_t width = 16, value_width = 16;
  DType dtype = DType::float32;
  std::int64_t heads() const { return key_heads * group; }
};

/// Normal q and k, v between -1 and 1, and no option set.
Setting random_setting(const Sizes& sizes, RandomNumbers& draws);

/// A tensor filled in row-major order.
Tensor filled(DType dtype, const Shape& shape, const std::function<double()>& next);

/// Sets the element at `index` of a contiguous tensor of any dtype.
void set_element(Tensor& tensor, std::int64_t index, double value);

/// Two arrays behind each other along one axis.
Tensor joined(const View& first, const View& second, int axis);

/// The elements at `order` along one axis, copied.
Tensor gathered(const View& view, int axis, const std::vector<std::int64_t>& order);

}  // namespace volvelle::properties
