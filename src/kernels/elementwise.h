#pragma once

#include <cstdint>
#include <tuple>

#include "volvelle/base/half.h"

namespace volvelle::kernels {

/// out = a + b, and out = factor * x, element by element, on arrays that lie next to each other, at
/// any alignment. The arithmetic is float32 where numbers are stored as float or BFloat16 (with one
/// rounding at the end), else float64. `out` may be one of what is read.
template <class A, class B>
using AddElements = void (*)(const A* a, const B* b, std::int64_t count, A* out);
template <class T>
using ScaleElements = void (*)(const T* x, double factor, std::int64_t count, T* out);

/// One function for each combination of types: `std::get<AddElements<A, B>>(kernels.add)`.
struct ElementwiseKernels {
  std::tuple<AddElements<float, float>, AddElements<float, BFloat16>, AddElements<BFloat16, float>,
             AddElements<BFloat16, BFloat16>, AddElements<double, double>>
      add;
  std::tuple<ScaleElements<float>, ScaleElements<BFloat16>, ScaleElements<double>> scale;
};

/// Of the instruction set in use.
const ElementwiseKernels& elementwise_kernels();

}  // namespace volvelle::kernels
