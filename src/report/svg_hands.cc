#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "report/svg_charts.h"

namespace volvelle {
namespace {

constexpr double kSize = 12;
constexpr double kLargestRadius = 26;

double widest(const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, svg_text_width(text, kSize));
  return width;
}

}  // namespace

double draw_hands(SvgPage& page, const StudyChart& chart, double top) {
  const double left = kSvgMargin + widest(chart.lines) + 10 + (chart.y_label.empty() ? 0 : 24);
  const double cell =
      std::min((kSvgWidth - kSvgMargin - left) / static_cast<double>(chart.columns.size()),
               2 * kLargestRadius + 10);
  const double row = cell;
  const double radius = cell / 2 - std::min(5.0, cell / 8);
  top += 8;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const double y = top + row * (static_cast<double>(i) + 0.5);
    page.text(chart.lines[i],
              {.x = left - 8, .y = y + 4, .size = kSize, .anchor = TextAnchor::end});
    for (std::size_t j = 0; j < chart.columns.size(); ++j) {
      const double x = left + cell * (static_cast<double>(j) + 0.5);
      const double angle = chart.cells[i][j];
      page.circle(x, y, radius, "#bbbbbb");
      if (!std::isfinite(angle)) continue;
      page.line(x, y, x + radius * std::cos(angle), y - radius * std::sin(angle), series_colour(i),
                2);
    }
  }
  const double bottom = top + row * static_cast<double>(chart.lines.size());
  for (std::size_t j = 0; j < chart.columns.size(); ++j) {
    page.text(chart.columns[j], {.x = left + cell * (static_cast<double>(j) + 0.5),
                                 .y = bottom + 16,
                                 .size = kSize,
                                 .anchor = TextAnchor::middle});
  }
  const double right = left + cell * static_cast<double>(chart.columns.size());
  page.text(chart.x_label,
            {.x = (left + right) / 2, .y = bottom + 38, .anchor = TextAnchor::middle});
  page.text(
      chart.y_label,
      {.x = kSvgMargin + 12, .y = (top + bottom) / 2, .anchor = TextAnchor::middle, .turned = -90});
  return bottom + (chart.x_label.empty() ? 24 : 46);
}

}  // namespace volvelle
