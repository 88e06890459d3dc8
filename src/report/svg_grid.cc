#include "report/svg_grid.h"

#include <algorithm>

namespace volvelle {
namespace {

const char kGrid[] = "#e3e3e3";
const char kAxis[] = "#666666";
constexpr double kMarkSize = 12;

}  // namespace

double room_for_marks(const Axis& axis, const std::string& label) {
  double widest = 0;
  for (const Axis::Mark& mark : axis.marks) {
    widest = std::max(widest, svg_text_width(mark.label, kMarkSize));
  }
  return widest + 14 + (label.empty() ? 0 : 24);
}

void draw_upright_axis(SvgPage& page, const SvgFrame& frame, const Axis& axis,
                       const std::string& label) {
  for (const Axis::Mark& mark : axis.marks) {
    const double y = frame.y(axis, mark.at);
    page.line(frame.left, y, frame.left + frame.width, y, kGrid);
    page.text(mark.label,
              {.x = frame.left - 8, .y = y + 4, .size = kMarkSize, .anchor = TextAnchor::end});
  }
  page.line(frame.left, frame.top, frame.left, frame.top + frame.height, kAxis);
  page.text(label, {.x = frame.left - room_for_marks(axis, label) + 12,
                    .y = frame.top + frame.height / 2,
                    .anchor = TextAnchor::middle,
                    .turned = -90});
}

void draw_level_axis(SvgPage& page, const SvgFrame& frame, const Axis& axis,
                     const std::string& label) {
  const double bottom = frame.top + frame.height;
  for (const Axis::Mark& mark : axis.marks) {
    const double x = frame.x(axis, mark.at);
    page.line(x, bottom, x, bottom + 5, kAxis);
    page.text(mark.label,
              {.x = x, .y = bottom + 19, .size = kMarkSize, .anchor = TextAnchor::middle});
  }
  page.line(frame.left, bottom, frame.left + frame.width, bottom, kAxis);
  page.text(label,
            {.x = frame.left + frame.width / 2, .y = bottom + 40, .anchor = TextAnchor::middle});
}

}  // namespace volvelle
