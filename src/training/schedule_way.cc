#include <algorithm>

#include "training/schedules.h"

namespace volvelle {

double share_of_way(std::int64_t first, std::int64_t step, std::int64_t last) {
  if (step >= last) return 1;
  if (step <= first) return 0;
  return static_cast<double>(step - first) / static_cast<double>(last - first);
}

std::int64_t top_step(const ScheduleOptions& options) {
  return std::max<std::int64_t>(options.warm_up, 1);
}

}  // namespace volvelle
