#include "training/schedules.h"

namespace volvelle {

double linear_rate(const ScheduleOptions& options, std::int64_t step) {
  const double way = share_of_way(top_step(options), step, options.steps);
  return options.rate + (options.lowest - options.rate) * way;
}

}  // namespace volvelle
