#include "ops/norm_factors.h"

#include <algorithm>

namespace volvelle {
namespace {

Tensor in(const Variable& row, DType dtype) {
  return row.dtype() == dtype ? row.value() : converted(row.view(), dtype);
}

template <class T>
Tensor factors_of(const Variable& weight, double offset, DType arithmetic, std::int64_t width) {
  Tensor factors(arithmetic, {width});
  T* to = factors.data<T>();
  if (!weight) {
    std::fill(to, to + width, T{1});
    return factors;
  }
  // Added in the arithmetic's dtype: rounding 1 + weight to bfloat16 would lose what the weight
  // says.
  const Tensor wide = in(weight, arithmetic);
  const T* from = wide.data<T>();
  for (std::int64_t j = 0; j < width; ++j) to[j] = static_cast<T>(offset) + from[j];
  return factors;
}

}  // namespace

NormFactors::NormFactors(const Variable& weight, const Variable& bias, double weight_offset,
                         DType arithmetic, std::int64_t width) {
  if (weight && weight_offset == 0) {
    factors_ = in(weight, arithmetic);
  } else if (arithmetic == DType::float64) {
    factors_ = factors_of<double>(weight, weight_offset, arithmetic, width);
  } else {
    factors_ = factors_of<float>(weight, weight_offset, arithmetic, width);
  }
  if (bias) bias_ = in(bias, arithmetic);
}

}  // namespace volvelle
