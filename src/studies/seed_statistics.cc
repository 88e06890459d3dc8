#include "studies/seed_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace volvelle {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> all(values.begin(), values.end());
  std::sort(all.begin(), all.end(), [](double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
    return a < b;
  });
  return all;
}

// P(Bin(n, 1/2) = k), by logarithms: 2^-n alone would underflow for a thousand seeds.
double binomial_half(std::int64_t n, std::int64_t k) {
  const auto log_factorial = [](std::int64_t m) { return std::lgamma(static_cast<double>(m) + 1); };
  return std::exp(log_factorial(n) - log_factorial(k) - log_factorial(n - k) -
                  static_cast<double>(n) * std::log(2.0));
}

}  // namespace

double lower_median(std::span<const double> values) {
  if (values.empty()) return kNone;
  return sorted(values)[(values.size() - 1) / 2];
}

SeedSpread spread_of(std::span<const double> values) {
  if (values.empty()) return {kNone, kNone, kNone};
  const std::vector<double> all = sorted(values);
  return {all[(all.size() - 1) / 2], all.front(), all.back()};
}

MedianInterval median_interval(std::span<const double> values, double level) {
  if (values.empty()) return {kNone, kNone, 0};
  const std::vector<double> all = sorted(values);
  const auto n = static_cast<std::int64_t>(all.size());
  // Leaving out one value more on each side costs 2 P(Bin = left out).
  std::int64_t left_out = 0;
  double coverage = 1 - 2 * binomial_half(n, 0);
  while (2 * (left_out + 1) < n) {
    const double narrower = coverage - 2 * binomial_half(n, left_out + 1);
    if (narrower < level) break;
    coverage = narrower;
    ++left_out;
  }
  const auto at = static_cast<std::size_t>(left_out);
  return {all[at], all[all.size() - 1 - at], std::max(coverage, 0.0)};
}

SignTest sign_test(std::span<const double> values) {
  SignTest test;
  for (const double value : values) {
    if (value > 0) ++test.above;
    if (value < 0) ++test.below;
  }
  const std::int64_t n = test.above + test.below;
  const std::int64_t fewer = std::min(test.above, test.below);
  double tail = 0;
  for (std::int64_t k = 0; k <= fewer; ++k) tail += binomial_half(n, k);
  test.probability = std::min(1.0, 2 * tail);
  return test;
}

double slope_of(std::span<const double> x, std::span<const double> y) {
  const std::size_t n = std::min(x.size(), y.size());
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t i = 0; i < n; ++i) {
    mean_x += x[i] / static_cast<double>(n);
    mean_y += y[i] / static_cast<double>(n);
  }
  double along = 0;
  double spread = 0;
  for (std::size_t i = 0; i < n; ++i) {
    along += (x[i] - mean_x) * (y[i] - mean_y);
    spread += (x[i] - mean_x) * (x[i] - mean_x);
  }
  return spread > 0 ? along / spread : kNone;
}

}  // namespace volvelle
