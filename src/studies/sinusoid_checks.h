#pragma once

#include <vector>

#include "studies/position_rows.h"

namespace volvelle {

/// A number counts as equal within this: float32 against double, and far below what a wrong formula
/// or 16 bits do.
inline constexpr double kTableTolerance = 1e-5;

/// How far a table is from what it promises.
struct SinusoidFigures {
  double from_loop = 0;       ///< largest difference from the literal double loop
  std::vector<double> waves;  ///< positions that each pair needs for a turn, read off row 1
  double waves_off = 0;       ///< largest relative error of them
  double length_off = 0;      ///< largest difference of a row's length from sqrt(d/2)
  double largest = 0;         ///< absolute value
  double shift_off = 0;       ///< largest difference of row p + k from the turned row p

  bool equals_loop() const { return from_loop <= kTableTolerance; }
  bool has_waves() const { return waves_off <= kTableTolerance; }
  bool has_lengths() const { return length_off <= kTableTolerance; }
  bool is_bounded() const { return largest <= 1; }
  bool shift_rotates() const { return shift_off <= kTableTolerance; }
};

SinusoidFigures sinusoid_figures(const PositionRows& table, double base, std::int64_t shift);

/// Rows that differ when all values are rounded to 6 decimals; among the first `rows` of them.
std::int64_t distinct_rows(const PositionRows& table, std::int64_t rows);

/// 2 pi base^(2i/d).
std::vector<double> wavelengths(std::int64_t width, double base);

}  // namespace volvelle
