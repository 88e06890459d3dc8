#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "volvelle/tensor/view.h"

namespace volvelle::testing {

/// Sums of products in double, from the formula, with what bounds the rounding of each.
struct ProductOracle {
  std::int64_t rows = 0, columns = 0, depth = 0;
  std::vector<double> sums;   ///< [rows][columns]
  std::vector<double> terms;  ///< sum of |a| |b|

  /// Of a [rows][depth] and b [depth][columns].
  ProductOracle(const std::vector<double>& a, const std::vector<double>& b, std::int64_t rows,
                std::int64_t depth, std::int64_t columns);
};

/// b[j][i] of a[i][j].
std::vector<double> transposed(const std::vector<double>& a, std::int64_t rows,
                               std::int64_t columns);

/// What is wrong with `ours` where right[i] is the truth and terms[i] bounds the terms that were
/// summed over `depth`; empty: nothing. `steepness` bounds how much what follows the sum magnifies
/// its error, and NaN must be met by NaN, infinity by the same.
std::string product_difference(const View& ours, const std::vector<double>& right,
                               const std::vector<double>& terms, std::int64_t depth,
                               double steepness = 1);

}  // namespace volvelle::testing
