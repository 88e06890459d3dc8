#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace volvelle {

/// A table of positions in double: one row per position, one column per dimension.
struct PositionRows {
  std::int64_t rows = 0, width = 0;
  std::vector<double> values;

  double at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * width + column)];
  }
  std::vector<double> row(std::int64_t row) const;
};

/// The oracle: a double loop written from the formula, sine in column 2i and cosine in 2i + 1 of
/// p / base^(2i/d).
PositionRows literal_sinusoids(std::int64_t rows, std::int64_t width, double base);

/// What a scheme adds to token vectors at positions first, first + 1, ...
PositionRows added_rows(const std::string& scheme, std::int64_t rows, std::int64_t width,
                        std::int64_t first = 0);

}  // namespace volvelle
