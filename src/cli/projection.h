#pragma once

#include "volvelle/tensor/tensor.h"

namespace volvelle::cli {

/// x (B,T,C) or (T,C) times weight (C, heads * width), as (B,H,T,width), (H,T,width) when x has
/// no batch, (T,width) when there is one head as well. Sums in double, rounded once to x's dtype.
/// Throws UsageError, naming `name`, when the shapes do not fit.
Tensor projected(const Tensor& x, const Tensor& weight, std::int64_t heads, bool head_axis,
                 const char* name);

}  // namespace volvelle::cli
