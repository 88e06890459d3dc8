#include <algorithm>
#include <cmath>

#include "training/schedules.h"

namespace volvelle {

// Vaswani et al. 2017 (arXiv:1706.03762, 5.3) with the highest rate as the number that is given:
// theirs is width^-0.5 * warm_up^-0.5.
double inverse_square_root_rate(const ScheduleOptions& options, std::int64_t step) {
  const auto top = static_cast<double>(top_step(options));
  return std::max(options.lowest, options.rate * std::sqrt(top / static_cast<double>(step)));
}

}  // namespace volvelle
