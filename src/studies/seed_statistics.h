#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace volvelle {

/// Statistics over seeds that assume nothing about how the figures are spread. A figure that is no
/// number counts as larger than any other.

/// The lower of the two middle values of an even count (what torch.median gives, and the
/// document's figures are). NaN for no values.
double lower_median(std::span<const double> values);

struct SeedSpread {
  double median = 0;  ///< lower middle
  double minimum = 0;
  double maximum = 0;
};
SeedSpread spread_of(std::span<const double> values);

/// Where the median of the population lies: between two of the values, the k-th smallest and the
/// k-th largest. Whatever the distribution, it does so with probability 1 - 2 P(Bin(n, 1/2) < k).
struct MedianInterval {
  double low = 0;
  double high = 0;
  double coverage = 0;  ///< that probability
};

/// The narrowest such interval that covers at least `level`; too few values for it (below 6 at
/// 0.95) give their whole range with its lower coverage.
/// Source: David and Nagaraja 2003, Order Statistics, section 7.1.
MedianInterval median_interval(std::span<const double> values, double level = 0.95);

/// The exact two-sided sign test of "as often above 0 as below". Values of 0 are left out.
struct SignTest {
  std::int64_t above = 0;
  std::int64_t below = 0;
  double probability = 1;  ///< of a count as uneven as this or more so, if that were true
};
SignTest sign_test(std::span<const double> values);

/// Slope of the least-squares line through (x, y). NaN when all x are equal.
double slope_of(std::span<const double> x, std::span<const double> y);

}  // namespace volvelle
