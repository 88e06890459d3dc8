#include "studies/positions_tables.h"

#include <algorithm>
#include <string>

namespace volvelle {
namespace {

StudyTable arm_table(const PositionsMeasured& measured) {
  StudyTable table{
      .key = "rows",
      .title =
          "What attention keeps, scheme by scheme. Alike: shuffled tokens give the same, "
          "shuffled. Order arrives: a token that stays sees the others change places",
      .columns = {{"scheme", ""},
                  {"name", "scheme"},
                  {"equivariant", "output alike"},
                  {"weights_equivariant", "weights alike"},
                  {"order_reaches", "order arrives"},
                  {"shift_changes_nothing", "shift keeps all"},
                  {"stated_relative", ""},
                  {"parameters", "parameters", 0},
                  {"shuffled", ""},
                  {"weights_shuffled", ""},
                  {"reached", ""},
                  {"shifted", ""}},
      .rows = {}};
  for (std::size_t i = 0; i < measured.figures.size(); ++i) {
    const PositionArm& arm = measured.arms[i];
    const ArmFigures& figures = measured.figures[i];
    table.rows.push_back({arm.key, arm.name, figures.equivariant(), figures.weights_equivariant(),
                          figures.order_reaches(), figures.shift_changes_nothing(),
                          arm.scheme->facts().shift_keeps == ShiftKeeps::everything,
                          arm.scheme->parameter_count(), figures.shuffled, figures.weights_shuffled,
                          figures.reached, figures.shifted});
  }
  return table;
}

StudyTable sinusoid_table(const PositionsMeasured& measured) {
  constexpr std::ptrdiff_t kShown = 8;
  StudyTable table{.key = "first_rows",
                   .title = "Sinusoidal rows of the first positions: sine and cosine, pair by pair",
                   .columns = {{"position", "position", 0},
                               {"begins", "row", 3, StudyForm::rounded},
                               {"row", ""}},
                   .rows = {}};
  for (std::int64_t p = 0; p < 3; ++p) {
    const std::vector<double> row = measured.table.row(p);
    const auto shown = std::min(kShown, static_cast<std::ptrdiff_t>(row.size()));
    table.rows.push_back({p, std::vector<double>(row.begin(), row.begin() + shown), row});
  }
  return table;
}

StudyTable offset_table(const PositionsMeasured& measured) {
  StudyTable table{.key = "offsets",
                   .title =
                       "Products of rows i and j by offset i - j, least and largest: as they "
                       "are, and after random projections of both",
                   .columns = {{"offset", "offset", 0},
                               {"plain_least", "least", 3},
                               {"plain_largest", "largest", 3},
                               {"plain_spread", ""},
                               {"projected_least", "projected: least", 3},
                               {"projected_largest", "largest", 3},
                               {"projected_spread", "spread", 3}},
                   .rows = {}};
  for (std::size_t i = 0; i < measured.plain_spreads.size(); ++i) {
    const OffsetSpread& plain = measured.plain_spreads[i];
    const OffsetSpread& projected = measured.projected_spreads[i];
    table.rows.push_back({plain.offset, plain.least, plain.largest, plain.spread(), projected.least,
                          projected.largest, projected.spread()});
  }
  table.text_rows = 17;
  return table;
}

StudyTable draw_table(const PositionsMeasured& measured) {
  StudyTable table{.key = "draws",
                   .title = "",
                   .columns = {{"seed", ""}, {"spread", ""}},
                   .rows = {},
                   .text_rows = 0};
  for (const DrawnSpread& draw : measured.draws) {
    table.rows.push_back({static_cast<std::int64_t>(draw.seed), draw.spread});
  }
  return table;
}

StudyTable bias_table(const PositionsMeasured& measured) {
  StudyTable table{.key = "bias",
                   .title =
                       "A number for each offset j - i from -2 to 2 (0 0.5 -0.5 1 -1), farther "
                       "ones clamped: what it adds to the scores of query i",
                   .columns = {{"query", "query", 0}, {"row", "keys 0, 1, 2, ...", 1}},
                   .rows = {}};
  const std::int64_t shown = std::min<std::int64_t>(measured.bias.width, 12);
  if (shown < measured.bias.width) {
    table.columns[1].title = "keys 0 to 11";
    table.columns[1].key = "begins";
    table.columns.push_back({"row", ""});
  }
  for (std::int64_t i = 0; i < measured.bias.rows; ++i) {
    std::vector<double> row = measured.bias.row(i);
    table.rows.push_back({i});
    if (shown < measured.bias.width) {
      table.rows.back().push_back(std::vector<double>(row.begin(), row.begin() + shown));
    }
    table.rows.back().push_back(std::move(row));
  }
  table.text_rows = 12;
  return table;
}

}  // namespace

std::vector<StudyTable> positions_tables(const PositionsMeasured& measured) {
  return {arm_table(measured), sinusoid_table(measured), offset_table(measured),
          draw_table(measured), bias_table(measured)};
}

}  // namespace volvelle
