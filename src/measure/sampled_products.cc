#include "measure/sampled_products.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

double sum_roundoff(DType dtype) { return dtype == DType::float64 ? 0x1p-52 : 0x1p-24; }

double storage_roundoff(DType dtype) {
  if (dtype == DType::float64) return 0x1p-53;
  if (dtype == DType::bfloat16) return 0x1p-8;
  if (dtype == DType::float16) return 0x1p-11;
  return 0x1p-24;
}

// The corners, then places spread evenly.
std::int64_t sample(std::int64_t i, std::int64_t rows, std::int64_t columns) {
  const std::int64_t corners[] = {0, columns - 1, (rows - 1) * columns, rows * columns - 1};
  if (i < 4) return corners[i];
  const double turn = static_cast<double>(i) * 0.61803398874989485;
  return static_cast<std::int64_t>((turn - std::floor(turn)) * static_cast<double>(rows * columns));
}

}  // namespace

double check_sampled_products(const Tensor& x, const Tensor& weights, const Tensor& y) {
  constexpr std::int64_t kSamples = 512;
  const std::int64_t rows = y.shape()[0], columns = y.shape()[1], inner = x.shape()[1];
  // Roundings of a sum go either way: their spread grows with the root of how many there are.
  const double steps = 8 + 2 * std::sqrt(static_cast<double>(inner));
  double worst = 0;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const std::int64_t at = sample(i, rows, columns);
    const std::int64_t row = at / columns, column = at % columns;
    double wanted = 0, magnitudes = 0;
    for (std::int64_t k = 0; k < inner; ++k) {
      const double term = element_as_double(x.view(), row * inner + k) *
                          element_as_double(weights.view(), column * inner + k);
      wanted += term;
      magnitudes += std::fabs(term);
    }
    const double apart = std::fabs(element_as_double(y.view(), at) - wanted);
    const double allowed = steps * sum_roundoff(y.dtype()) * magnitudes +
                           1.01 * storage_roundoff(y.dtype()) * std::fabs(wanted);
    if (!(apart <= allowed)) {
      throw InternalError("[bench] the product differs from sums in double by " +
                          std::to_string(apart) + " at (" + std::to_string(row) + "," +
                          std::to_string(column) + "), " + std::to_string(allowed) +
                          " is allowed; please report this");
    }
    worst = std::max(worst, apart);
  }
  return worst;
}

}  // namespace volvelle
