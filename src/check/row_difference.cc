#include "check/row_difference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "check/row_reader.h"

namespace volvelle {

double difference(double ours, double theirs) {
  if (ours == theirs || (std::isnan(ours) && std::isnan(theirs))) return 0;
  if (!std::isfinite(ours) || !std::isfinite(theirs)) {
    return std::numeric_limits<double>::infinity();
  }
  return std::fabs(theirs - ours);
}

double allowed(const Tolerance& tolerance, double ours, double theirs, double row_size) {
  const double size = tolerance.by_row ? std::max(std::fabs(ours), row_size) : std::fabs(theirs);
  return tolerance.atol + tolerance.rtol * size;
}

double excess(double ours, double theirs, const Tolerance& tolerance, double row_size) {
  const double apart = difference(ours, theirs);
  if (apart == 0) return 0;
  if (std::isinf(apart)) return apart;  // an infinite size must not allow it
  return apart / allowed(tolerance, ours, theirs, row_size);
}

double row_excess(const std::vector<double>& ours, const std::vector<double>& theirs,
                  const Tolerance& tolerance) {
  const auto count = static_cast<std::int64_t>(ours.size());
  const double size = tolerance.by_row ? root_mean_square(ours.data(), count) : 0;
  double worst = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    worst = std::max(worst, excess(ours[i], theirs[i], tolerance, size));
  }
  return worst;
}

}  // namespace volvelle
