#include "cli/frequency_figures.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "volvelle/report/number.h"

namespace volvelle::cli {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr std::size_t kShownPairs = 12;

// As many as there is room for, first and last among them.
std::vector<std::size_t> spread(std::size_t count, std::size_t most) {
  std::vector<std::size_t> shown;
  const std::size_t wanted = std::min(count, most);
  for (std::size_t i = 0; i < wanted; ++i) {
    shown.push_back(wanted == 1 ? 0 : i * (count - 1) / (wanted - 1));
  }
  return shown;
}

StudyTable frequency_table(const TurningPairs& pairs) {
  const bool scaled = !pairs.unscaled.empty();
  StudyTable table{
      .key = "pairs",
      .title = "Pairs of columns, in a text of " + std::to_string(pairs.length) + " positions",
      .columns = {{"pair", "pair"},
                  {"columns", "columns"},
                  {"frequency", "radians", 6, StudyForm::rounded},
                  {"wavelength", "wavelength", 1},
                  {"turns", "turns in text", 2},
                  {"turn_completed_at", "turn completed at"}},
      .rows = {}};
  if (scaled) {
    table.columns.push_back({"change", "by scaling", 4, StudyForm::rounded});
    table.columns.push_back({"unscaled_wavelength", "", 1});
  }
  const auto last = static_cast<double>(std::max<std::int64_t>(pairs.length - 1, 0));
  for (std::size_t i = 0; i < pairs.frequencies.size(); ++i) {
    const double frequency = pairs.frequencies[i];
    const bool turns = frequency > 0 && kTurn / frequency < 9e15;
    std::vector<StudyCell> row;
    row.emplace_back(static_cast<std::int64_t>(i));
    row.emplace_back(pairs.columns[i]);
    row.emplace_back(frequency);
    if (turns) {
      row.emplace_back(kTurn / frequency);
    } else {
      row.emplace_back(std::string("none"));
    }
    row.emplace_back(last * frequency / kTurn);
    if (turns) {
      row.emplace_back(static_cast<std::int64_t>(std::ceil(kTurn / frequency)));
    } else {
      row.emplace_back(std::string("never"));
    }
    if (scaled) {
      row.emplace_back(frequency / pairs.unscaled[i]);
      row.emplace_back(kTurn / pairs.unscaled[i]);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

StudySeries wavelengths_of(const std::string& label, const std::vector<double>& frequencies) {
  StudySeries series{.label = label, .x = {}, .y = {}, .low = {}, .high = {}};
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    if (!(frequencies[i] > 0)) continue;  // a pair that stands still has none
    series.x.push_back(static_cast<double>(i));
    series.y.push_back(kTurn / frequencies[i]);
  }
  return series;
}

StudyChart wavelength_chart(const TurningPairs& pairs) {
  StudyChart chart{.kind = StudyChart::Kind::lines,
                   .key = "wavelengths",
                   .title = "Wavelength of each pair: positions for one whole turn",
                   .x_label = "pair",
                   .y_label = "positions",
                   .log_y = true};
  chart.series.push_back(wavelengths_of("wavelength", pairs.frequencies));
  if (!pairs.unscaled.empty()) chart.series.push_back(wavelengths_of("unscaled", pairs.unscaled));
  const auto length = static_cast<double>(pairs.length);
  if (pairs.frequencies.size() > 1 && pairs.length > 0) {
    chart.series.push_back({.label = "length of the text",
                            .x = {0, static_cast<double>(pairs.frequencies.size() - 1)},
                            .y = {length, length},
                            .low = {},
                            .high = {}});
  }
  return chart;
}

StudyChart hand_chart(const TurningPairs& pairs) {
  StudyChart chart{.kind = StudyChart::Kind::hands,
                   .key = "hands",
                   .title = "The pairs as hands of clocks, counter-clockwise from three o'clock",
                   .x_label = "position",
                   .y_label = "pair",
                   .in_text = false};
  std::vector<std::int64_t> positions{0, 1, 2, 3};
  while (positions.back() * 2 < std::max<std::int64_t>(pairs.length, 8) && positions.size() < 12) {
    positions.push_back(positions.size() == 4 ? 4 : positions.back() * 2);
  }
  for (const std::int64_t position : positions) chart.columns.push_back(std::to_string(position));
  for (const std::size_t pair : spread(pairs.frequencies.size(), kShownPairs)) {
    chart.lines.push_back(std::to_string(pair));
    std::vector<double> angles;
    for (const std::int64_t position : positions) {
      angles.push_back(static_cast<double>(position) * pairs.frequencies[pair]);
    }
    chart.cells.push_back(std::move(angles));
  }
  return chart;
}

StudyChart table_chart(const TurningPairs& pairs) {
  StudyChart chart{.kind = StudyChart::Kind::heat_map,
                   .key = "table",
                   .title = pairs.table_title,
                   .x_label = pairs.table_axis,
                   .y_label = "position",
                   .shades_from = -1,
                   .shades_to = 1,
                   .in_text = false};
  const std::vector<std::size_t> columns = spread(pairs.table.front().size(), 32);
  for (const std::size_t column : columns) chart.columns.push_back(std::to_string(column));
  for (std::size_t position = 0; position < pairs.table.size(); ++position) {
    chart.lines.push_back(std::to_string(position));
    std::vector<double> cells;
    std::vector<std::string> labels;
    for (const std::size_t column : columns) {
      cells.push_back(pairs.table[position][column]);
      // What rounds to 0 is shown as 0: an exponent would not fit its cell.
      labels.push_back(fixed(std::round(cells.back() * 100) / 100 + 0.0, 2));
    }
    chart.cells.push_back(std::move(cells));
    chart.cell_labels.push_back(std::move(labels));
  }
  return chart;
}

}  // namespace

void add_frequency_figures(const TurningPairs& pairs, StudyResult& sheet) {
  sheet.tables.push_back(frequency_table(pairs));
  sheet.charts.push_back(wavelength_chart(pairs));
  sheet.charts.push_back(hand_chart(pairs));
  sheet.charts.push_back(table_chart(pairs));
}

}  // namespace volvelle::cli
