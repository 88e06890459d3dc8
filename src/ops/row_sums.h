#pragma once

#include "volvelle/tensor/store.h"
#include "volvelle/tensor/tensor.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// to (+)= the sum of the `rows` rows of x, added in float64 in order of blocks of rows: threads do
/// not change a bit. x has rows times as many elements as `to`, both contiguous, each float32,
/// bfloat16 or float64.
void sum_rows(const Tensor& x, std::int64_t rows, const MutableView& to, Store store,
              int threads = 0);

}  // namespace volvelle
