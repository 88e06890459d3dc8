#include "check/row_reader.h"

#include <cmath>
#include <type_traits>

#include "tensor/convert.h"

namespace volvelle {

FourAxes::FourAxes(const View& any) : view(any) {
  const int missing = 4 - any.rank();
  for (int axis = 0; axis < any.rank(); ++axis) {
    shape[missing + axis] = any.shape()[axis];
    stride[missing + axis] = any.shape()[axis] == 1 ? 0 : any.strides()[axis];
  }
}

void FourAxes::read(std::int64_t batch, std::int64_t head, std::int64_t index, double* row) const {
  const std::int64_t offset = batch * stride[0] + head * stride[1] + index * stride[2];
  visit_dtype(view.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(view.data()) + offset;
    for (std::int64_t i = 0; i < shape[3]; ++i) {
      if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        row[i] = static_cast<double>(to_float(from[i * stride[3]]));
      } else {
        row[i] = static_cast<double>(from[i * stride[3]]);
      }
    }
  });
}

double root_mean_square(const double* values, std::int64_t count) {
  double sum = 0;
  std::int64_t finite = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(values[i])) continue;
    sum += values[i] * values[i];
    ++finite;
  }
  return finite == 0 ? 0 : std::sqrt(sum / static_cast<double>(finite));
}

}  // namespace volvelle
