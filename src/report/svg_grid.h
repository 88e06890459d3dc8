#pragma once

#include "report/axis.h"
#include "report/svg_page.h"

namespace volvelle {

/// The inside of a chart's axes, in pixels.
struct SvgFrame {
  double left = 0, top = 0, width = 0, height = 0;

  double x(const Axis& axis, double value) const { return left + axis.share(value) * width; }
  double y(const Axis& axis, double value) const { return top + (1 - axis.share(value)) * height; }
};

/// Room to the left of a frame for the marks of its upright axis and its label.
double room_for_marks(const Axis& axis, const std::string& label);

/// Marks, their lines across the frame, and the label of an axis.
void draw_upright_axis(SvgPage& page, const SvgFrame& frame, const Axis& axis,
                       const std::string& label);
void draw_level_axis(SvgPage& page, const SvgFrame& frame, const Axis& axis,
                     const std::string& label);

}  // namespace volvelle
