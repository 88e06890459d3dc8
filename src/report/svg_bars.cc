#include <algorithm>
#include <cmath>

#include "report/chart_data.h"
#include "report/svg_charts.h"
#include "report/svg_grid.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr double kHeight = 260;

void draw_whisker(SvgPage& page, double x, double low, double high) {
  const char* colour = "#333333";
  page.line(x, low, x, high, colour, 1.5);
  page.line(x - 5, low, x + 5, low, colour, 1.5);
  page.line(x - 5, high, x + 5, high, colour, 1.5);
}

}  // namespace

double draw_bars(SvgPage& page, const StudyChart& chart, double top) {
  const Axis y = axis_over(bar_values(chart), {.whole_steps = true, .from_zero = true});
  SvgFrame frame;
  frame.left = kSvgMargin + room_for_marks(y, chart.y_label);
  frame.width = kSvgWidth - kSvgMargin - 8 - frame.left;
  frame.top = draw_legend(page, chart, frame.left, top) + 18;
  frame.height = kHeight;
  draw_upright_axis(page, frame, y, chart.y_label);
  const std::size_t groups = chart.series.empty() ? 0 : chart.series.front().y.size();
  const double group = frame.width / static_cast<double>(std::max<std::size_t>(groups, 1));
  const double bar = std::min(
      group * 0.8 / static_cast<double>(std::max<std::size_t>(chart.series.size(), 1)), 90.0);
  const double bottom = frame.top + frame.height;
  for (std::size_t g = 0; g < groups; ++g) {
    const double middle = frame.left + (static_cast<double>(g) + 0.5) * group;
    double x = middle - bar * static_cast<double>(chart.series.size()) / 2;
    for (std::size_t i = 0; i < chart.series.size(); ++i, x += bar) {
      const StudySeries& series = chart.series[i];
      if (g >= series.y.size() || !std::isfinite(series.y[g])) continue;
      const double zero = frame.y(y, 0);
      const double end = frame.y(y, series.y[g]);
      page.box(x + 1, std::min(zero, end), bar - 2, std::fabs(end - zero), series_colour(i));
      double above = std::min(zero, end);
      if (!series.low.empty() && std::isfinite(series.low[g]) && std::isfinite(series.high[g])) {
        const double high = frame.y(y, series.high[g]);
        draw_whisker(page, x + bar / 2, frame.y(y, series.low[g]), high);
        above = std::min(above, high);
      }
      if (bar >= 34) {
        page.text(rounded(series.y[g], 3),
                  {.x = x + bar / 2, .y = above - 5, .size = 12, .anchor = TextAnchor::middle});
      }
    }
    page.text(bar_label(chart, g),
              {.x = middle, .y = bottom + 19, .size = 12, .anchor = TextAnchor::middle});
  }
  page.line(frame.left, frame.y(y, 0), frame.left + frame.width, frame.y(y, 0), "#666666");
  page.text(chart.x_label,
            {.x = frame.left + frame.width / 2, .y = bottom + 40, .anchor = TextAnchor::middle});
  return bottom + (chart.x_label.empty() ? 24 : 46);
}

}  // namespace volvelle
