#include "support/products.h"

#include <cmath>

#include "support/arrays.h"
#include "support/tolerance.h"

namespace volvelle::testing {

ProductOracle::ProductOracle(const std::vector<double>& a, const std::vector<double>& b,
                             std::int64_t row_count, std::int64_t depth_count,
                             std::int64_t column_count)
    : rows(row_count), columns(column_count), depth(depth_count) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      double sum = 0;
      double size = 0;
      for (std::int64_t i = 0; i < depth; ++i) {
        const double term = a[static_cast<std::size_t>(r * depth + i)] *
                            b[static_cast<std::size_t>(i * columns + c)];
        sum += term;
        size += std::fabs(term);
      }
      sums.push_back(sum);
      terms.push_back(size);
    }
  }
}

std::vector<double> transposed(const std::vector<double>& a, std::int64_t rows,
                               std::int64_t columns) {
  std::vector<double> b(a.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      b[static_cast<std::size_t>(c * rows + r)] = a[static_cast<std::size_t>(r * columns + c)];
    }
  }
  return b;
}

std::string product_difference(const View& ours, const std::vector<double>& right,
                               const std::vector<double>& terms, std::int64_t depth,
                               double steepness) {
  const std::vector<double> values = values_of(ours);
  if (values.size() != right.size()) return "sizes differ";
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double wanted = right[i];
    const double found = values[i];
    if (std::isnan(wanted) ? std::isnan(found) : found == wanted) continue;
    const Allowed allowed = allowed_product(ours.dtype(), terms[i], depth);
    const double error = std::fabs(found - wanted);
    if (!(error <= steepness * allowed.absolute + allowed.relative * std::fabs(wanted))) {
      return "element " + std::to_string(i) + " is " + std::to_string(found) + ", not " +
             std::to_string(wanted) + " (off by " + std::to_string(error / allowed.absolute) +
             " of what is allowed)";
    }
  }
  return {};
}

}  // namespace volvelle::testing
