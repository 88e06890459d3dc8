#pragma once

#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// The largest absolute difference between y (M,N) and x (M,K) W^T, W (N,K), summed in double, on
/// up to 512 elements spread over all, the corners among them. All three contiguous. Throws
/// InternalError when one is further off than the rounding of a sum of K terms in float32 and of
/// the result explains.
double check_sampled_products(const Tensor& x, const Tensor& weights, const Tensor& y);

}  // namespace volvelle
