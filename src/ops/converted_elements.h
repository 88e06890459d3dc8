#pragma once

#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// The numbers of a contiguous float32, bfloat16 or float64 array in another of these dtypes,
/// rounded once. Where the dtype is the same, the tensor itself.
Tensor converted_elements(const Tensor& from, DType dtype, int threads = 0);

}  // namespace volvelle
