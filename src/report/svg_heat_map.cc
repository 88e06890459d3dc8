#include <algorithm>
#include <cmath>

#include "report/chart_data.h"
#include "report/svg_charts.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr double kRow = 34;
constexpr double kScaleWidth = 18;
constexpr double kScaleRoom = 84;  // bar, gap and its numbers
constexpr double kSize = 12;

double widest(const std::vector<std::string>& texts, double size) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, svg_text_width(text, size));
  return width;
}

void draw_scale(SvgPage& page, const CellRange& range, double x, double top, double height) {
  constexpr int kSteps = 32;
  const double step = height / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    // Half a pixel over the next, so that no light seam shows between them.
    page.box(x, top + height - (i + 1) * step, kScaleWidth, step + (i > 0 ? 0.5 : 0),
             scale_colour((i + 0.5) / kSteps));
  }
  const double values[] = {range.low, (range.low + range.high) / 2, range.high};
  for (const double value : values) {
    const double share =
        range.high > range.low ? (value - range.low) / (range.high - range.low) : 0.5;
    page.text(rounded(value, 3),
              {.x = x + kScaleWidth + 6, .y = top + height * (1 - share) + 4, .size = kSize});
    if (range.high <= range.low) break;
  }
}

}  // namespace

double draw_heat_map(SvgPage& page, const StudyChart& chart, double top) {
  const CellRange range = cell_range(chart);
  const double left =
      kSvgMargin + widest(chart.lines, kSize) + 10 + (chart.y_label.empty() ? 0 : 24);
  const double right = kSvgWidth - kSvgMargin - kScaleRoom;
  const double cell = (right - left) / static_cast<double>(chart.columns.size());
  const double height = kRow * static_cast<double>(chart.lines.size());
  top += 8;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const double y = top + kRow * static_cast<double>(i);
    page.text(chart.lines[i],
              {.x = left - 8, .y = y + kRow / 2 + 4, .size = kSize, .anchor = TextAnchor::end});
    for (std::size_t j = 0; j < chart.columns.size(); ++j) {
      const double x = left + cell * static_cast<double>(j);
      const double value = chart.cells[i][j];
      const bool there = std::isfinite(value);
      const double share = range.share(value);
      page.box(x + 1, y + 1, cell - 2, kRow - 2, there ? scale_colour(share) : "#eeeeee");
      std::string label = cell_label(chart, i, j);
      // What does not fit its cell is in the table.
      if (svg_text_width(label, 10) > cell - 4) label.clear();
      page.text(label, {.x = x + cell / 2,
                        .y = y + kRow / 2 + 4,
                        .size = svg_text_width(label, kSize) > cell - 6 ? 10.0 : kSize,
                        .anchor = TextAnchor::middle,
                        .colour = there && is_dark(share) ? "#ffffff" : "#222222"});
    }
  }
  const double bottom = top + height;
  const bool turned = widest(chart.columns, kSize) > cell - 6;
  for (std::size_t j = 0; j < chart.columns.size(); ++j) {
    const double middle = left + cell * (static_cast<double>(j) + 0.5);
    page.text(chart.columns[j], {.x = middle + (turned ? 4 : 0),
                                 .y = bottom + 16,
                                 .size = kSize,
                                 .anchor = turned ? TextAnchor::end : TextAnchor::middle,
                                 .turned = turned ? -40.0 : 0.0});
  }
  draw_scale(page, range, right + 20, top, height);
  const double below = turned ? widest(chart.columns, kSize) * 0.65 + 24 : 20;
  page.text(chart.x_label,
            {.x = (left + right) / 2, .y = bottom + below + 18, .anchor = TextAnchor::middle});
  page.text(
      chart.y_label,
      {.x = kSvgMargin + 12, .y = top + height / 2, .anchor = TextAnchor::middle, .turned = -90});
  return bottom + below + (chart.x_label.empty() ? 4 : 26);
}

}  // namespace volvelle
