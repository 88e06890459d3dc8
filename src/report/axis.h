#pragma once

#include <string>
#include <vector>

namespace volvelle {

/// One axis of a chart: from where to where, linear or by powers, with its marks.
struct Axis {
  struct Mark {
    double at;
    std::string label;
  };

  double low = 0, high = 1;
  bool log = false;
  std::vector<Mark> marks;

  /// Whether `value` has a place: it is finite, and positive on an axis of powers.
  bool places(double value) const;
  double share(double value) const;  ///< 0 at low, 1 at high
};

struct AxisOptions {
  bool log = false;
  bool whole_steps = false;  ///< begin and end at marks
  bool from_zero = false;    ///< 0 belongs to it
  int marks = 5;             ///< about that many
};

/// An axis that has room for every value that `Axis::places`.
Axis axis_over(const std::vector<double>& values, const AxisOptions& options);

/// The same, its marks at the values themselves when they are few and stand apart.
Axis axis_at(std::vector<double> values, const AxisOptions& options);

}  // namespace volvelle
