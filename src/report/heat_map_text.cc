#include "report/heat_map_text.h"

#include <algorithm>
#include <cmath>

#include "report/chart_data.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

// From light to dark on paper; a space would look like a missing cell.
const char kShades[] = ".:-=+*%@";
constexpr int kShadeCount = static_cast<int>(sizeof kShades) - 1;

char shade(const CellRange& range, double value) {
  const int step = static_cast<int>(range.share(value) * kShadeCount);
  return kShades[std::min(step, kShadeCount - 1)];
}

std::string scale_text(const StudyChart& chart, const CellRange& range, const TextLayout& layout) {
  return wrapped(std::string("marks from . (") + rounded(range.low, 3) + ") to @ (" +
                     rounded(range.high, 3) + "), evenly in between" +
                     (chart.y_label.empty() ? "" : "; down: " + chart.y_label) +
                     (chart.x_label.empty() ? "" : "; across: " + chart.x_label),
                 layout, 2);
}

}  // namespace

std::string heat_map_text(const StudyChart& chart, const TextLayout& layout) {
  const CellRange range = cell_range(chart);
  LabelledMatrix matrix{
      .rows = static_cast<std::int64_t>(chart.lines.size()),
      .columns = static_cast<std::int64_t>(chart.columns.size()),
      .row_label = [&](std::int64_t i) { return chart.lines[std::size_t(i)]; },
      .column_label = [&](std::int64_t i) { return chart.columns[std::size_t(i)]; },
      .cell = {}};
  matrix.cell = [&](std::int64_t i, std::int64_t j) {
    const auto line = static_cast<std::size_t>(i);
    const auto column = static_cast<std::size_t>(j);
    const double value = chart.cells[line][column];
    const std::string label = cell_label(chart, line, column);
    if (!std::isfinite(value)) return label.empty() ? std::string("?") : "?? " + label;
    const std::string mark(2, shade(range, value));
    return label.empty() ? mark : mark + ' ' + label;
  };
  TextLayout rows = layout;
  rows.max_rows = std::max(layout.max_rows, 48);
  return render(matrix, rows) + scale_text(chart, range, layout);
}

}  // namespace volvelle
