#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "volvelle/report/study_result.h"

namespace volvelle::cli {

/// Pairs of columns that turn with the position.
struct TurningPairs {
  std::vector<std::string> columns;  ///< of each: "0, 4"
  std::vector<double> frequencies;   ///< radians per position
  std::vector<double> unscaled;      ///< before scaling; empty: there is none
  std::int64_t length = 0;           ///< of the text
  /// The row of one position, for the map, and the names of its columns.
  std::vector<std::vector<double>> table;
  std::string table_title, table_axis;
};

/// Frequencies, wavelengths and where each pair completes a turn, as a table; wavelengths, the
/// pairs as hands of clocks, and the table of numbers as charts.
void add_frequency_figures(const TurningPairs& pairs, StudyResult& sheet);

/// Positions that charts have room for.
inline constexpr std::int64_t kShownPositions = 32;

}  // namespace volvelle::cli
