#pragma once

#include <cstdint>

#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// Sums in float64 over contiguous float32, bfloat16 or float64 arrays, chunk by chunk and the
/// chunks in order: threads do not change a bit.
double sum_of(const Tensor& x, int threads = 0);
double sum_of_products(const Tensor& x, const Tensor& y, int threads = 0);

/// Index of the first element that is not finite; -1: there is none.
std::int64_t first_non_finite_of(const Tensor& x, int threads = 0);

}  // namespace volvelle
