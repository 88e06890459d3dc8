#include "measure/sampled_rows.h"

#include <algorithm>
#include <cmath>

namespace volvelle {

std::vector<SampledRow> sampled_rows(std::int64_t batch, std::int64_t heads, std::int64_t rows) {
  constexpr std::int64_t kRows = 24;
  const std::int64_t all = batch * heads * rows;
  std::vector<SampledRow> chosen;
  for (std::int64_t i = 0; i < std::min(all, kRows); ++i) {
    std::int64_t at = i;
    if (all > kRows) {
      const double turn = static_cast<double>(i) * 0.61803398874989485;  // spreads evenly
      at = static_cast<std::int64_t>((turn - std::floor(turn)) * static_cast<double>(all));
    }
    SampledRow row{at / rows / heads, at / rows % heads, at % rows};
    if (all > kRows && i % 8 == 1) row.index = 0;
    if (all > kRows && i % 8 == 2) row.index = rows - 1;
    chosen.push_back(row);
  }
  return chosen;
}

Tensor rows_of(const View& array, const std::vector<SampledRow>& rows) {
  const std::int64_t width = array.shape()[3];
  const Strides& s = array.strides();
  Tensor found(DType::float64, {static_cast<std::int64_t>(rows.size()), width});
  double* to = found.data<double>();
  for (const SampledRow& row : rows) {
    const std::int64_t first = row.batch * s[0] + row.head * s[1] + row.index * s[2];
    for (std::int64_t e = 0; e < width; ++e) *to++ = element_as_double(array, first + e * s[3]);
  }
  return found;
}

}  // namespace volvelle
