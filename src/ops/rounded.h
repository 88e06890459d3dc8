#pragma once

#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// Numbers of float32, bfloat16 or float16 in another of these dtypes, rounded once; the same
/// tensor where they are of it already.
Tensor rounded(const Tensor& numbers, DType dtype, int threads);

}  // namespace volvelle
