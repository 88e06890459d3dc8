#include "check/properties/setting.h"

#include <cstring>
#include <type_traits>
#include <utility>

#include "tensor/convert.h"

namespace volvelle::properties {

View Setting::own(Tensor tensor) {
  memory.push_back(std::move(tensor));
  return memory.back().view();
}

View Setting::integers(const Shape& shape, const std::vector<std::int64_t>& values) {
  Tensor tensor(DType::int64, shape);
  std::memcpy(tensor.raw(), values.data(), tensor.bytes());
  return own(std::move(tensor));
}

View Setting::reals(const Shape& shape, const std::vector<double>& values) {
  std::size_t at = 0;
  return own(filled(DType::float32, shape, [&] { return values[at++]; }));
}

void set_element(Tensor& tensor, std::int64_t index, double value) {
  visit_dtype(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* place = static_cast<T*>(tensor.raw()) + index;
    if constexpr (std::is_same_v<T, Float16>) {
      *place = to_float16(value);
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      *place = to_bfloat16(value);
    } else {
      *place = static_cast<T>(value);
    }
  });
}

Tensor filled(DType dtype, const Shape& shape, const std::function<double()>& next) {
  Tensor tensor(dtype, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i) set_element(tensor, i, next());
  return tensor;
}

Tensor joined(const View& first, const View& second, int axis) {
  Shape shape = first.shape();
  shape[axis] += second.shape()[axis];
  Tensor result(first.dtype(), shape);
  const Strides strides = contiguous_strides(shape);
  const auto bytes = static_cast<std::int64_t>(size_of(first.dtype()));
  char* behind = static_cast<char*>(result.raw()) + first.shape()[axis] * strides[axis] * bytes;
  copy_elements(first, MutableView(result.raw(), first.dtype(), first.shape(), strides));
  copy_elements(second, MutableView(behind, first.dtype(), second.shape(), strides));
  return result;
}

Tensor gathered(const View& view, int axis, const std::vector<std::int64_t>& order) {
  Shape shape = view.shape();
  shape[axis] = static_cast<std::int64_t>(order.size());
  Tensor result(view.dtype(), shape);
  const MutableView whole = result.mutable_view();
  const auto bytes = static_cast<std::int64_t>(size_of(view.dtype()));
  Shape one = shape;
  one[axis] = 1;
  for (std::size_t n = 0; n < order.size(); ++n) {
    char* place = static_cast<char*>(whole.data()) +
                  static_cast<std::int64_t>(n) * whole.strides()[axis] * bytes;
    copy_elements(slice(view, axis, order[n], 1),
                  MutableView(place, view.dtype(), one, whole.strides()));
  }
  return result;
}

Setting random_setting(const Sizes& sizes, RandomNumbers& draws) {
  Setting setting;
  const auto normal = [&] { return draws.normal(); };
  setting.problem.q = setting.own(
      filled(sizes.dtype, {sizes.batch, sizes.heads(), sizes.queries, sizes.width}, normal));
  setting.problem.k = setting.own(
      filled(sizes.dtype, {sizes.batch, sizes.key_heads, sizes.keys, sizes.width}, normal));
  setting.problem.v =
      setting.own(filled(sizes.dtype, {sizes.batch, sizes.key_heads, sizes.keys, sizes.value_width},
                         [&] { return draws.unit(); }));
  return setting;
}

}  // namespace volvelle::properties
