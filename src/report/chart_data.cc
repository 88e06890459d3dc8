#include "report/chart_data.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "volvelle/base/error.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

void demand(bool holds, const StudyChart& chart, const char* rule) {
  if (holds) return;
  throw InternalError("[chart] '" + chart.title + "': " + rule + "; please report this");
}

void append(std::vector<double>& to, const std::vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void check_chart(const StudyChart& chart) {
  if (chart.kind == StudyChart::Kind::heat_map || chart.kind == StudyChart::Kind::hands) {
    demand(!chart.columns.empty() && !chart.lines.empty(), chart, "cells need labels");
    demand(chart.cells.size() == chart.lines.size(), chart, "a row of cells for each line");
    const bool labelled = !chart.cell_labels.empty();
    demand(!labelled || chart.cell_labels.size() == chart.lines.size(), chart,
           "a row of cell labels for each line");
    for (std::size_t i = 0; i < chart.cells.size(); ++i) {
      demand(chart.cells[i].size() == chart.columns.size(), chart, "a cell for each column");
      demand(!labelled || chart.cell_labels[i].size() == chart.columns.size(), chart,
             "a cell label for each column");
    }
    return;
  }
  const bool bars = chart.kind == StudyChart::Kind::bars;
  demand(!bars || (!chart.log_x && !chart.log_y), chart, "bars begin at 0, not on powers");
  for (const StudySeries& series : chart.series) {
    const std::size_t count = series.y.size();
    demand(bars ? chart.columns.empty() || chart.columns.size() == count : series.x.size() == count,
           chart, bars ? "a bar for each column" : "an x for each y");
    demand(series.low.size() == series.high.size() &&
               (series.low.empty() || series.low.size() == count),
           chart, "both ends of a band for each point");
  }
}

LineAxes line_axes(const StudyChart& chart, const AxisOptions& x, const AxisOptions& y) {
  std::vector<double> across, up;
  for (const StudySeries& series : chart.series) {
    append(across, series.x);
    for (const auto* values : {&series.y, &series.low, &series.high}) append(up, *values);
  }
  return {axis_at(across, x), axis_over(up, y)};
}

int points_without_place(const StudyChart& chart) {
  int count = 0;
  for (const StudySeries& series : chart.series) {
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      const bool x = chart.log_x && series.x[i] <= 0;
      const bool y = chart.log_y && series.y[i] <= 0;
      count += x || y ? 1 : 0;
    }
  }
  return count;
}

std::vector<double> bar_values(const StudyChart& chart) {
  std::vector<double> values;
  for (const StudySeries& series : chart.series) {
    for (const auto* part : {&series.y, &series.low, &series.high}) append(values, *part);
  }
  return values;
}

std::string bar_label(const StudyChart& chart, std::size_t i) {
  return i < chart.columns.size() ? chart.columns[i] : std::to_string(i + 1);
}

double CellRange::share(double value) const {
  return high > low ? std::clamp((value - low) / (high - low), 0.0, 1.0) : 0.5;
}

CellRange cell_range(const StudyChart& chart) {
  if (chart.shades_from < chart.shades_to) return {chart.shades_from, chart.shades_to};
  CellRange range{std::numeric_limits<double>::infinity(),
                  -std::numeric_limits<double>::infinity()};
  for (const auto& line : chart.cells) {
    for (const double cell : line) {
      if (!std::isfinite(cell)) continue;
      range.low = std::min(range.low, cell);
      range.high = std::max(range.high, cell);
    }
  }
  return range.low <= range.high ? range : CellRange{};
}

std::string cell_label(const StudyChart& chart, std::size_t line, std::size_t column) {
  if (!chart.cell_labels.empty()) return chart.cell_labels[line][column];
  return std::isnan(chart.cells[line][column]) ? "" : rounded(chart.cells[line][column], 2);
}

}  // namespace volvelle
