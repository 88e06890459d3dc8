#include "check/array_size.h"

#include <cmath>
#include <vector>

#include "check/row_reader.h"

namespace volvelle {

double root_mean_square_of(const View& view) {
  const FourAxes array(view);
  std::vector<double> row(static_cast<std::size_t>(array.shape[3]));
  double sum = 0;
  std::int64_t finite = 0;
  for (std::int64_t b = 0; b < array.shape[0]; ++b) {
    for (std::int64_t h = 0; h < array.shape[1]; ++h) {
      for (std::int64_t t = 0; t < array.shape[2]; ++t) {
        array.read(b, h, t, row.data());
        for (const double value : row) {
          if (!std::isfinite(value)) continue;
          sum += value * value;
          ++finite;
        }
      }
    }
  }
  return finite == 0 ? 0 : std::sqrt(sum / static_cast<double>(finite));
}

}  // namespace volvelle
