#include "training/schedules.h"

namespace volvelle {

// Hu et al. 2024 (arXiv:2404.06395, 4.2), with a straight way down.
double warm_up_stable_decay_rate(const ScheduleOptions& options, std::int64_t step) {
  const double way = share_of_way(options.steps - options.decay_steps, step, options.steps);
  return options.rate + (options.lowest - options.rate) * way;
}

}  // namespace volvelle
