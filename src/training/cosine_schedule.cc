#include <cmath>
#include <numbers>

#include "training/schedules.h"

namespace volvelle {

// Without restarts. Source: Loshchilov and Hutter 2017, arXiv:1608.03983.
double cosine_rate(const ScheduleOptions& options, std::int64_t step) {
  const double way = share_of_way(top_step(options), step, options.steps);
  return options.lowest +
         (options.rate - options.lowest) * (1 + std::cos(std::numbers::pi * way)) / 2;
}

}  // namespace volvelle
