#pragma once

#include <string>
#include <utility>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/report/table.h"

namespace volvelle {

/// Horizontal bars from 0, each with its label and its value.
struct BarChart {
  std::vector<std::pair<std::string, double>> bars;
  double full = 0;  ///< the value of a whole bar; 0: the largest there is
  int digits = 4;   ///< of the values beside the bars
};

/// Values along an axis, drawn with characters.
struct LineChart {
  std::vector<double> values;  ///< more of them than columns are averaged column by column
  std::string left;            ///< what stands under the first value
  std::string right;           ///< what stands under the last
  int height = 8;              ///< lines
  int digits = 4;
};

/// In plain ASCII, so that a chart survives a log file. A value that is not finite has no bar.
VOLVELLE_API std::string render(const BarChart& chart, const TextLayout& layout = {});
VOLVELLE_API std::string render(const LineChart& chart, const TextLayout& layout = {});

}  // namespace volvelle
