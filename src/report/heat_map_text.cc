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

// Some columns of it under each other, as many as fit the page.
class Grid {
 public:
  Grid(const StudyChart& chart, const TextLayout& layout)
      : chart_(chart), range_(cell_range(chart)), layout_(layout) {}

  std::string text() const {
    std::string text;
    for (std::size_t first = 0; first < chart_.columns.size();) {
      std::size_t count = chart_.columns.size() - first;
      while (count > 1 && !fits(first, count)) --count;
      text += (first > 0 ? "\n" : "") + part(first, count);
      first += count;
    }
    return text + scale_text(chart_, range_, layout_);
  }

 private:
  std::string cell(std::size_t line, std::size_t column) const {
    const double value = chart_.cells[line][column];
    const std::string label = cell_label(chart_, line, column);
    const std::string mark(2, std::isfinite(value) ? shade(range_, value) : '?');
    return label.empty() ? mark : mark + ' ' + label;
  }

  bool fits(std::size_t first, std::size_t count) const {
    std::size_t width = static_cast<std::size_t>(layout_.indent);
    std::size_t widest = 0;
    for (const std::string& line : chart_.lines) widest = std::max(widest, line.size());
    width += widest;
    for (std::size_t c = first; c < first + count; ++c) {
      widest = chart_.columns[c].size();
      for (std::size_t i = 0; i < chart_.lines.size(); ++i) {
        widest = std::max(widest, cell(i, c).size());
      }
      width += 2 + widest;
    }
    return width <= static_cast<std::size_t>(layout_.width);
  }

  std::string part(std::size_t first, std::size_t count) const {
    Table table{.titles = {""}, .rows = {}};
    for (std::size_t c = first; c < first + count; ++c) table.titles.push_back(chart_.columns[c]);
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) {
      table.rows.push_back({chart_.lines[i]});
      for (std::size_t c = first; c < first + count; ++c) table.rows.back().push_back(cell(i, c));
    }
    return render(table, layout_);
  }

  const StudyChart& chart_;
  CellRange range_;
  TextLayout layout_;
};

}  // namespace

std::string heat_map_text(const StudyChart& chart, const TextLayout& layout) {
  return Grid(chart, layout).text();
}

}  // namespace volvelle
