#pragma once

#include <cstdint>
#include <vector>

#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// A row along the last axis of an array of rank 4.
struct SampledRow {
  std::int64_t batch = 0, head = 0, index = 0;
};

/// Up to 24 rows of an array with these first three axes: the first and the last of some heads and
/// rows spread over all.
std::vector<SampledRow> sampled_rows(std::int64_t batch, std::int64_t heads, std::int64_t rows);

/// Those rows of `array`, a row after the other, in float64.
Tensor rows_of(const View& array, const std::vector<SampledRow>& rows);

}  // namespace volvelle
