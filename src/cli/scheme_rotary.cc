#include <algorithm>
#include <cmath>

#include "cli/frequency_figures.h"
#include "cli/scheme_figures.h"
#include "volvelle/nn/positions/rotary.h"

namespace volvelle::cli {
namespace {

std::vector<std::string> columns_of(const RotaryOptions& options, std::int64_t columns) {
  const bool side_by_side = options.pairing == RotaryPairing::interleaved;
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < columns / 2; ++i) {
    names.push_back(side_by_side ? std::to_string(2 * i) + ", " + std::to_string(2 * i + 1)
                                 : std::to_string(i) + ", " + std::to_string(i + columns / 2));
  }
  return names;
}

// What the attention of a model reads: its tables, at the first positions.
std::vector<std::vector<double>> cosines(const SchemeCase& scheme) {
  const std::int64_t rows = std::min(scheme.length, kShownPositions);
  AttendVariableOptions attention;
  make_positions(scheme.text, scheme.context)->enter(attention, {.positions = scheme.length});
  const Tensor& table = attention.rotary.cosines;
  const std::int64_t pairs = table.shape()[table.rank() - 1];
  std::vector<std::vector<double>> made;
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* const from = table.data<float>() + row * pairs;
    made.emplace_back(from, from + pairs);
  }
  return made;
}

}  // namespace

void add_rotary_figures(const SchemeCase& scheme, StudyResult& sheet) {
  const RotaryOptions options = rotary_options(scheme.text);
  const std::int64_t width = scheme.context.head_width;
  const RotaryFrequencies made = rotary_frequencies(options, width, scheme.length);
  TurningPairs pairs{.columns = columns_of(options, rotary_columns(options, width)),
                     .frequencies = made.frequencies,
                     .unscaled = {},
                     .length = scheme.length,
                     .table = cosines(scheme),
                     .table_title = "Cosines at the first positions",
                     .table_axis = "pair"};
  if (options.scaling != RotaryScaling::none) {
    pairs.unscaled =
        rotary_frequencies({.base = options.base, .columns = rotary_columns(options, width)}, width)
            .frequencies;
    sheet.facts.emplace_back("attention_factor", made.attention);
    sheet.facts.emplace_back("base_after_scaling", made.base);
  }
  add_frequency_figures(pairs, sheet);
}

}  // namespace volvelle::cli
