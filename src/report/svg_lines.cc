#include <algorithm>

#include "report/chart_data.h"
#include "report/svg_charts.h"
#include "report/svg_grid.h"

namespace volvelle {
namespace {

constexpr double kHeight = 300;
constexpr std::size_t kMostSigns = 24;  // of a line: more would hide it

using Points = std::vector<SvgPage::Point>;

// Stretches of points that all have a place.
std::vector<Points> stretches(const SvgFrame& frame, const LineAxes& axes,
                              const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<Points> result(1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (axes.x.places(x[i]) && axes.y.places(y[i])) {
      result.back().push_back({frame.x(axes.x, x[i]), frame.y(axes.y, y[i])});
    } else if (!result.back().empty()) {
      result.emplace_back();
    }
  }
  return result;
}

void draw_band(SvgPage& page, const SvgFrame& frame, const LineAxes& axes,
               const StudySeries& series, std::size_t i) {
  Points upper, lower;
  const auto close = [&] {
    upper.insert(upper.end(), lower.rbegin(), lower.rend());
    page.area(upper, series_colour(i), 0.18);
    upper.clear();
    lower.clear();
  };
  for (std::size_t p = 0; p < series.low.size(); ++p) {
    if (!axes.x.places(series.x[p]) || !axes.y.places(series.low[p]) ||
        !axes.y.places(series.high[p])) {
      close();
      continue;
    }
    const double x = frame.x(axes.x, series.x[p]);
    upper.push_back({x, frame.y(axes.y, series.high[p])});
    lower.push_back({x, frame.y(axes.y, series.low[p])});
  }
  close();
}

void draw_line(SvgPage& page, const SvgFrame& frame, const LineAxes& axes,
               const StudySeries& series, std::size_t i) {
  for (const Points& points : stretches(frame, axes, series.x, series.y)) {
    page.path(points, series_colour(i), series_dashes(i));
    const std::size_t every = 1 + (points.size() - 1) / kMostSigns;
    for (std::size_t p = 0; p < points.size(); p += every) page.sign(points[p].x, points[p].y, i);
  }
}

}  // namespace

double draw_lines(SvgPage& page, const StudyChart& chart, double top) {
  const LineAxes axes = line_axes(chart, {.log = chart.log_x, .marks = 8},
                                  {.log = chart.log_y, .whole_steps = true, .marks = 6});
  SvgFrame frame;
  frame.left = kSvgMargin + room_for_marks(axes.y, chart.y_label);
  frame.width = kSvgWidth - kSvgMargin - 8 - frame.left;
  frame.top = draw_legend(page, chart, frame.left, top) + 8;
  frame.height = kHeight;
  draw_upright_axis(page, frame, axes.y, chart.y_label);
  draw_level_axis(page, frame, axes.x, chart.x_label);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    draw_band(page, frame, axes, chart.series[i], i);
  }
  for (std::size_t i = chart.series.size(); i-- > 0;) {
    draw_line(page, frame, axes, chart.series[i], i);
  }
  double bottom = frame.top + frame.height + (chart.x_label.empty() ? 24 : 46);
  const int lost = points_without_place(chart);
  if (lost > 0) {
    page.text(std::to_string(lost) + (lost == 1 ? " point has" : " points have") +
                  " no place on an axis of powers: 0 or negative",
              {.x = frame.left, .y = bottom + 12, .size = 12, .colour = "#666666"});
    bottom += 18;
  }
  return bottom;
}

}  // namespace volvelle
