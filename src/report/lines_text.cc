#include "report/lines_text.h"

#include <algorithm>
#include <cmath>

#include "report/chart_data.h"

namespace volvelle {
namespace {

constexpr int kHeight = 15;
constexpr int kWidest = 66;
const char kLineMarks[] = "*o+x#@%&";
const char kBandMarks[] = ".:,'-~^`";
constexpr std::size_t kMarks = sizeof kLineMarks - 1;

// The plot's characters, row 0 on top.
class Canvas {
 public:
  Canvas(const LineAxes& axes, int width)
      : axes_(axes), rows_(kHeight, std::string(static_cast<std::size_t>(width), ' ')) {}

  void line(const StudySeries& series, char mark) {
    walk(series.x, series.y, [&](std::size_t column, double y) { put(column, row(y), mark); });
  }

  void band(const StudySeries& series, char mark) {
    if (series.low.empty()) return;
    std::vector<double> highs(rows_[0].size(), std::nan(""));
    walk(series.x, series.high, [&](std::size_t column, double y) { highs[column] = y; });
    walk(series.x, series.low, [&](std::size_t column, double y) {
      if (!axes_.y.places(highs[column])) return;
      for (int r = row(highs[column]); r <= row(y); ++r) {
        // Where bands meet, both show.
        if (at(column, r) == ' ' || (column + static_cast<std::size_t>(r)) % 2 == 0) {
          put(column, r, mark);
        }
      }
    });
  }

  const std::vector<std::string>& rows() const { return rows_; }
  int row(double y) const {
    return static_cast<int>(std::lround((1 - axes_.y.share(y)) * (kHeight - 1)));
  }
  std::size_t column(double x) const {
    return static_cast<std::size_t>(
        std::lround(axes_.x.share(x) * static_cast<double>(rows_[0].size() - 1)));
  }

 private:
  char at(std::size_t column, int row) const {
    return rows_[static_cast<std::size_t>(row)][column];
  }
  void put(std::size_t column, int row, char mark) {
    rows_[static_cast<std::size_t>(row)][column] = mark;
  }

  // Every column from the first point to the last, straight from one to the next on the axes.
  template <class Visit>
  void walk(const std::vector<double>& x, const std::vector<double>& y, Visit visit) const {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!axes_.x.places(x[i]) || !axes_.y.places(y[i])) continue;
      const std::size_t here = column(x[i]);
      visit(here, y[i]);
      if (i + 1 == x.size() || !axes_.x.places(x[i + 1]) || !axes_.y.places(y[i + 1])) continue;
      const std::size_t next = column(x[i + 1]);
      for (std::size_t c = here + 1; c < next; ++c) {
        const double share = static_cast<double>(c - here) / static_cast<double>(next - here);
        visit(c, between(y[i], y[i + 1], share));
      }
    }
  }

  double between(double from, double to, double share) const {
    if (axes_.y.log) return from * std::pow(to / from, share);
    return from + (to - from) * share;
  }

  const LineAxes& axes_;
  std::vector<std::string> rows_;
};

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

// Marks under the axis, those that would run into the last one left out.
std::string labels_below(const Axis& axis, const Canvas& canvas, std::size_t left,
                         std::size_t page) {
  std::string ticks(left + canvas.rows()[0].size(), ' ');
  std::string labels(page, ' ');
  std::size_t free = 0;
  for (const Axis::Mark& mark : axis.marks) {
    const std::size_t at = left + canvas.column(mark.at);
    std::size_t begin = at - std::min(at, mark.label.size() / 2);
    begin = std::min(begin, page - std::min(page, mark.label.size()));
    if (begin < free) continue;
    ticks[at] = '\'';
    labels.replace(begin, mark.label.size(), mark.label);
    free = begin + mark.label.size() + 2;
  }
  return trimmed(ticks) + trimmed(labels);
}

std::string legend(const StudyChart& chart, const TextLayout& layout) {
  std::string text;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const StudySeries& series = chart.series[i];
    std::string entry(1, kLineMarks[i % kMarks]);
    entry += ' ' + series.label;
    if (!series.low.empty()) entry += std::string(" (band ") + kBandMarks[i % kMarks] + ')';
    text += wrapped(entry, {.width = layout.width, .indent = layout.indent}, 2);
  }
  const int lost = points_without_place(chart);
  if (lost > 0) {
    text += wrapped(std::to_string(lost) + (lost == 1 ? " point has" : " points have") +
                        " no place on an axis of powers: 0 or negative",
                    layout);
  }
  return text;
}

}  // namespace

std::string lines_text(const StudyChart& chart, const TextLayout& layout) {
  const LineAxes axes = line_axes(chart, {.log = chart.log_x, .marks = 6},
                                  {.log = chart.log_y, .whole_steps = true, .marks = 5});
  std::size_t label_width = 0;
  for (const Axis::Mark& mark : axes.y.marks) {
    label_width = std::max(label_width, mark.label.size());
  }
  const std::size_t left = static_cast<std::size_t>(layout.indent) + label_width + 2;
  const int room = layout.width - static_cast<int>(left);
  Canvas canvas(axes, std::clamp(room, 16, kWidest));
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    canvas.band(chart.series[i], kBandMarks[i % kMarks]);
  }
  for (std::size_t i = chart.series.size(); i-- > 0;) {
    canvas.line(chart.series[i], kLineMarks[i % kMarks]);
  }

  std::string text;
  if (!chart.y_label.empty()) text += wrapped(chart.y_label, layout);
  std::vector<std::string> beside(kHeight, std::string(label_width, ' ') + " |");
  for (const Axis::Mark& mark : axes.y.marks) {
    std::string label(label_width - mark.label.size(), ' ');
    label += mark.label;
    beside[static_cast<std::size_t>(canvas.row(mark.at))] = label + " +";
  }
  const std::string indent(static_cast<std::size_t>(layout.indent), ' ');
  for (std::size_t r = 0; r < beside.size(); ++r) {
    text += trimmed(indent + beside[r] + canvas.rows()[r]);
  }
  text += indent + std::string(label_width + 1, ' ') + '+' +
          std::string(canvas.rows()[0].size(), '-') + '\n';
  text += labels_below(axes.x, canvas, left, static_cast<std::size_t>(layout.width));
  if (!chart.x_label.empty()) {
    const std::size_t width = canvas.rows()[0].size();
    const std::size_t free = width > chart.x_label.size() ? (width - chart.x_label.size()) / 2 : 0;
    text +=
        wrapped(chart.x_label, {.width = layout.width, .indent = static_cast<int>(left + free)});
  }
  return text + legend(chart, layout);
}

}  // namespace volvelle
