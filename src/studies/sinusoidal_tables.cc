#include "studies/sinusoidal_tables.h"

#include <cmath>
#include <numbers>
#include <string>

#include "volvelle/report/number.h"

namespace volvelle {
namespace {

// Of the two numbers of a pair, so far apart in position.
double pair_distance(double rate, double offset) {
  return 2 * std::fabs(std::sin(offset * rate / 2));
}

StudyTable pair_table(const SinusoidalStudyOptions& options, const SinusoidalMeasured& measured) {
  StudyTable table{
      .key = "rows",
      .title = "Pairs of columns at width " + std::to_string(options.width) +
               ": positions to a turn, and how far a pair tells positions apart (2: opposite)",
      .columns = {{"pair", "pair", 0},
                  {"rate", "radians", 4, StudyForm::rounded},
                  {"wavelength", "a turn in", 1},
                  {"times_last", "times last", 1},
                  {"apart_1", "1 apart", 3},
                  {"apart_10", "10", 3},
                  {"apart_100", "100", 3},
                  {"apart_1000", "1000", 3},
                  {"linear_wavelength", "linear ladder", 1}},
      .rows = {}};
  const std::vector<double>& waves = measured.figures[kByScheme].waves;
  for (std::size_t i = 0; i < waves.size(); ++i) {
    const double rate = 2 * std::numbers::pi / waves[i];
    table.rows.push_back({static_cast<std::int64_t>(i), rate, waves[i],
                          i == 0 ? StudyCell() : StudyCell(waves[i] / waves[i - 1]),
                          pair_distance(rate, 1), pair_distance(rate, 10), pair_distance(rate, 100),
                          pair_distance(rate, 1000),
                          2 * std::numbers::pi / measured.linear.rates[i]});
  }
  table.text_rows = 16;
  return table;
}

StudyTable first_rows(const SinusoidalMeasured& measured) {
  constexpr std::ptrdiff_t kShown = 6;
  StudyTable table{.key = "first_rows",
                   .title = "The first positions: sine and cosine of pair 0, of pair 1, ...",
                   .columns = {{"position", "position", 0},
                               {"begins", "the row begins", 4, StudyForm::rounded},
                               {"row", ""}},
                   .rows = {}};
  for (std::int64_t p = 0; p < std::min<std::int64_t>(measured.table.rows, 3); ++p) {
    const std::vector<double> row = measured.table.row(p);
    const auto shown = std::min(kShown, static_cast<std::ptrdiff_t>(row.size()));
    table.rows.push_back({p, std::vector<double>(row.begin(), row.begin() + shown), row});
  }
  return table;
}

StudyTable variant_table(const SinusoidalMeasured& measured) {
  StudyTable table{.key = "variants",
                   .title = "What each check sees of tables made rightly and wrongly (yes: passes)",
                   .columns = {{"variant", ""},
                               {"made", "table"},
                               {"matches_loop", "loop"},
                               {"matches_wavelengths", "waves"},
                               {"equal_lengths", "lengths"},
                               {"within_unit", "-1 to 1"},
                               {"shift_is_rotation", "shift"},
                               {"distinct_rows", "distinct", 0},
                               {"rows", "of", 0},
                               {"from_loop", "from loop", 7, StudyForm::rounded},
                               {"wavelength_error", ""},
                               {"length_error", ""},
                               {"shift_error", ""},
                               {"wavelengths", ""}},
                   .rows = {}};
  for (std::size_t kind = 0; kind < measured.figures.size(); ++kind) {
    const SinusoidVariant& variant = sinusoid_variants()[kind];
    const SinusoidFigures& figures = measured.figures[kind];
    table.rows.push_back({variant.key, variant.name, figures.equals_loop(), figures.has_waves(),
                          figures.has_lengths(), figures.is_bounded(), figures.shift_rotates(),
                          measured.distinct[kind], measured.of_rows[kind], figures.from_loop,
                          figures.waves_off, figures.length_off, figures.shift_off, figures.waves});
  }
  return table;
}

StudyTable precision_table(const SinusoidalStudyOptions& options,
                           const SinusoidalMeasured& measured) {
  StudyTable table{.key = "precision",
                   .title = "Largest error of a value up to a position, at width " +
                            std::to_string(options.row_width),
                   .columns = {{"from", "from", 0}, {"to", "to", 0}},
                   .rows = {}};
  for (const TableVariant kind : {kHalfPositions, kBrainPositions, kHalfAngles, kHalfTable}) {
    const SinusoidVariant& variant = sinusoid_variants()[kind];
    const char* titles[] = {"float16", "bfloat16", "angles cast", "table cast"};
    table.columns.push_back({variant.key, titles[kind - kHalfPositions], 5});
  }
  table.columns.push_back({"float16_distinct", "float16 distinct", 0});
  table.columns.push_back({"bfloat16_distinct", "bfloat16", 0});
  for (const PrecisionBand& band : measured.bands) {
    if (band.error.size() < kTableVariants) continue;
    table.rows.push_back({band.first, band.last, band.error[kHalfPositions],
                          band.error[kBrainPositions], band.error[kHalfAngles],
                          band.error[kHalfTable], band.distinct[kHalfPositions],
                          band.distinct[kBrainPositions]});
  }
  table.identifying = 2;
  return table;
}

StudyTable ladder_table(const SinusoidalStudyOptions& options, const SinusoidalMeasured& measured) {
  StudyTable table{.key = "ladders",
                   .title =
                       "As many rates between the same ends, in equal ratios and in equal "
                       "steps: pairs by wavelength, and the two rows that lie closest among " +
                       grouped(options.rows),
                   .columns = {{"ladder", "ladder"},
                               {"below_10", "to 10", 0},
                               {"below_100", "to 100", 0},
                               {"below_1000", "to 1000", 0},
                               {"above_1000", "longer", 0},
                               {"closest_offset", "closest rows", 0},
                               {"closest_distance", "distance", 3}},
                   .rows = {}};
  const auto add = [&](const char* name, const FrequencyLadder& ladder,
                       const ClosestRows& closest) {
    std::int64_t counts[4] = {};
    for (const double rate : ladder.rates) {
      const double wave = 2 * std::numbers::pi / rate;
      ++counts[wave < 10 ? 0 : wave < 100 ? 1 : wave < 1000 ? 2 : 3];
    }
    table.rows.push_back({std::string(name), counts[0], counts[1], counts[2], counts[3],
                          closest.offset, closest.distance});
  };
  add("geometric", measured.geometric, measured.closest_geometric);
  add("linear", measured.linear, measured.closest_linear);
  return table;
}

StudyTable embedding_table(const SinusoidalStudyOptions& options,
                           const SinusoidalMeasured& measured) {
  StudyTable table{.key = "embeddings",
                   .title = "Length of token vectors and of the row that is added, width " +
                            std::to_string(options.row_width) +
                            ", 1,000 tokens drawn; the part is of the squared length",
                   .columns = {{"deviation", "entries' deviation", 4, StudyForm::rounded},
                               {"factor", "times sqrt(d)"},
                               {"token_length", "token", 3},
                               {"row_length", "position", 3},
                               {"position_share", "position's part", 0, StudyForm::percent}},
                   .rows = {}};
  for (const EmbeddingScale& scale : measured.scales) {
    table.rows.push_back({scale.deviation, scale.factor, scale.token_length, scale.row_length,
                          scale.position_share});
  }
  return table;
}

}  // namespace

std::vector<StudyTable> sinusoidal_tables(const SinusoidalStudyOptions& options,
                                          const SinusoidalMeasured& measured) {
  return {pair_table(options, measured),
          first_rows(measured),
          variant_table(measured),
          ladder_table(options, measured),
          precision_table(options, measured),
          embedding_table(options, measured)};
}

}  // namespace volvelle
