#include "check/properties/distance.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "check/row_difference.h"
#include "check/row_reader.h"
#include "volvelle/base/error.h"

namespace volvelle::properties {
namespace {

// Calls visit(ours, right) for every pair of elements.
template <class Visit>
void for_each_pair(const View& ours, const View& right, Visit&& visit) {
  if (!(ours.shape() == right.shape())) {
    throw InternalError("[check attention] arrays of shapes " + to_string(ours.shape()) + " and " +
                        to_string(right.shape()) + " cannot be compared; please report this");
  }
  const FourAxes a(ours);
  const FourAxes b(right);
  std::vector<double> x(static_cast<std::size_t>(a.shape[3]));
  std::vector<double> y(x.size());
  for (std::int64_t n = 0; n < a.shape[0]; ++n) {
    for (std::int64_t h = 0; h < a.shape[1]; ++h) {
      for (std::int64_t t = 0; t < a.shape[2]; ++t) {
        a.read(n, h, t, x.data());
        b.read(n, h, t, y.data());
        for (std::size_t e = 0; e < x.size(); ++e) visit(x[e], y[e]);
      }
    }
  }
}

template <class Distance>
double over_all(const AttentionResult& ours, const AttentionResult& right, Distance&& distance) {
  double worst = 0;
  for (const Tensor AttentionResult::* each :
       {&AttentionResult::output, &AttentionResult::lse, &AttentionResult::entropy,
        &AttentionResult::column_sums}) {
    if (!(ours.*each) || !(right.*each)) continue;
    worst = std::max(worst, distance((ours.*each).view(), (right.*each).view()));
  }
  return worst;
}

}  // namespace

double distance(const View& ours, const View& right) {
  double size = 1;
  double worst = 0;
  for_each_pair(ours, right, [&](double x, double y) {
    worst = std::max(worst, difference(x, y));
    if (std::isfinite(y)) size = std::max(size, std::fabs(y));
  });
  return worst / size;
}

double bit_distance(const View& ours, const View& right) {
  double worst = 0;
  for_each_pair(ours, right, [&](double x, double y) {
    if (std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y)) return;
    worst = std::max({worst, difference(x, y), std::numeric_limits<double>::denorm_min()});
  });
  return worst;
}

double distance(const AttentionResult& ours, const AttentionResult& right) {
  return over_all(ours, right, [](const View& a, const View& b) { return distance(a, b); });
}

double bit_distance(const AttentionResult& ours, const AttentionResult& right) {
  return over_all(ours, right, [](const View& a, const View& b) { return bit_distance(a, b); });
}

double bit_distance(const AttentionGradientResult& ours, const AttentionGradientResult& right) {
  double worst = 0;
  for (const auto each : kGradients) {
    if (!(ours.*each) || !(right.*each)) continue;
    worst = std::max(worst, bit_distance((ours.*each).view(), (right.*each).view()));
  }
  return worst;
}

}  // namespace volvelle::properties
