#include "report/svg_charts.h"

namespace volvelle {

double draw_legend(SvgPage& page, const StudyChart& chart, double left, double top) {
  const bool bars = chart.kind == StudyChart::Kind::bars;
  if (bars && chart.series.size() < 2) return top;
  constexpr double kRow = 20, kSign = 26, kBetween = 22;
  double x = left;
  double y = top + 12;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const std::string& label = chart.series[i].label;
    const double width = kSign + svg_text_width(label, 13) + kBetween;
    if (x > left && x + width - kBetween > kSvgWidth - kSvgMargin) {
      x = left;
      y += kRow;
    }
    if (bars) {
      page.box(x + 4, y - 10, 12, 12, series_colour(i));
    } else {
      page.path({{x, y - 4}, {x + 20, y - 4}}, series_colour(i), series_dashes(i));
      page.sign(x + 10, y - 4, i);
    }
    page.text(label, {.x = x + kSign, .y = y});
    x += width;
  }
  return y + 10;
}

}  // namespace volvelle
