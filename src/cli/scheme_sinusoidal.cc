#include <algorithm>

#include "cli/frequency_figures.h"
#include "cli/scheme_figures.h"
#include "volvelle/nn/positions/sinusoidal.h"

namespace volvelle::cli {

void add_sinusoidal_figures(const SchemeCase& scheme, StudyResult& sheet) {
  const SinusoidalOptions options = sinusoidal_options(scheme.text);
  const std::int64_t width = scheme.context.width;
  TurningPairs pairs{.columns = {},
                     .frequencies = sinusoidal_frequencies(width, options),
                     .unscaled = {},
                     .length = scheme.length,
                     .table = {},
                     .table_title = "The table: what is added at the first positions",
                     .table_axis = "column"};
  const auto sines = static_cast<std::int64_t>(pairs.frequencies.size());
  const bool interleaved = options.layout == SinusoidalLayout::interleaved;
  for (std::int64_t i = 0; i < sines; ++i) {
    const std::int64_t sine = interleaved ? 2 * i : i;
    const std::int64_t cosine = interleaved ? 2 * i + 1 : sines + i;
    pairs.columns.push_back(std::to_string(sine) +
                            (cosine < width ? ", " + std::to_string(cosine) : ""));
  }
  const std::int64_t rows = std::min(scheme.length, kShownPositions);
  const Tensor table = sinusoidal_table(rows, width, options, DType::float64);
  for (std::int64_t row = 0; row < rows; ++row) {
    const double* const from = table.data<double>() + row * width;
    pairs.table.emplace_back(from, from + width);
  }
  add_frequency_figures(pairs, sheet);
}

}  // namespace volvelle::cli
