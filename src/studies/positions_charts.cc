#include <algorithm>
#include <string>

#include "studies/positions_tables.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr std::int64_t kMostCells = 16;

StudyChart matrix_chart(const char* key, const std::string& title, const PositionRows& matrix) {
  StudyChart chart;
  chart.kind = StudyChart::Kind::heat_map;
  chart.key = key;
  chart.title = title;
  chart.x_label = "position j";
  chart.y_label = "position i";
  chart.in_text = false;
  const std::int64_t shown = std::min(matrix.rows, kMostCells);
  for (std::int64_t i = 0; i < shown; ++i) {
    chart.columns.push_back(std::to_string(i));
    chart.lines.push_back(std::to_string(i));
    chart.cells.emplace_back();
    chart.cell_labels.emplace_back();
    for (std::int64_t j = 0; j < shown; ++j) {
      chart.cells.back().push_back(matrix.at(i, j));
      chart.cell_labels.back().push_back(rounded(matrix.at(i, j), 2));
    }
  }
  return chart;
}

// The draws in the order of their spread.
StudyChart spread_chart(const PositionsStudyOptions& options, const PositionsMeasured& measured) {
  std::vector<DrawnSpread> draws = measured.draws;
  draws.push_back({options.seed, measured.spread_projected});
  std::stable_sort(draws.begin(), draws.end(),
                   [](const auto& a, const auto& b) { return a.spread < b.spread; });
  StudyChart chart;
  chart.key = "spreads";
  chart.title = "Spread along diagonals after random projections, one mark a draw, in order";
  chart.x_label = "draw, by its spread";
  chart.y_label = "spread (0: by offset alone)";
  StudySeries projected{.label = "projected", .x = {}, .y = {}, .low = {}, .high = {}};
  StudySeries plain{.label = "as they are", .x = {}, .y = {}, .low = {}, .high = {}};
  for (std::size_t i = 0; i < draws.size(); ++i) {
    projected.x.push_back(static_cast<double>(i));
    projected.y.push_back(draws[i].spread);
    plain.x.push_back(static_cast<double>(i));
    plain.y.push_back(measured.spread_plain);
  }
  chart.series = {projected, plain};
  return chart;
}

}  // namespace

std::vector<StudyChart> positions_charts(const PositionsStudyOptions& options,
                                         const PositionsMeasured& measured) {
  return {
      matrix_chart("plain", "Products of sinusoidal rows: one value along each diagonal",
                   measured.plain),
      matrix_chart("projected", "The same after random projections of both", measured.projected),
      matrix_chart("bias", "A clamped bias: far diagonals share a number", measured.bias),
      spread_chart(options, measured)};
}

}  // namespace volvelle
