#pragma once

#include <string>
#include <vector>

#include "report/axis.h"
#include "volvelle/report/study_result.h"

namespace volvelle {

/// Throws InternalError, naming the chart, when its parts do not fit each other: x and y of
/// different lengths, bands for some points only, cells without labels, bars on an axis of powers.
void check_chart(const StudyChart& chart);

/// The axes of lines. Whatever a line and its band place is in them.
struct LineAxes {
  Axis x, y;
};
LineAxes line_axes(const StudyChart& chart, const AxisOptions& x, const AxisOptions& y);

/// Points that an axis of powers has no place for (0 or negative ones), in all series.
int points_without_place(const StudyChart& chart);

/// All values of bars with their bands.
std::vector<double> bar_values(const StudyChart& chart);

/// Name of the i-th group of bars: its label, or its number from 1 on.
std::string bar_label(const StudyChart& chart, std::size_t i);

/// What a heat map shades between: what it says, else the least and the largest of its finite
/// cells; 0 and 1 where there is none.
struct CellRange {
  double low = 0, high = 1;
  /// 0 at the least, 1 at the largest, a half where they are one.
  double share(double value) const;
};
CellRange cell_range(const StudyChart& chart);

/// What stands in a cell: its label, or its number.
std::string cell_label(const StudyChart& chart, std::size_t line, std::size_t column);

}  // namespace volvelle
