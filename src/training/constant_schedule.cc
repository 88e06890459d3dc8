#include "training/schedules.h"

namespace volvelle {

double constant_rate(const ScheduleOptions& options, std::int64_t) { return options.rate; }

}  // namespace volvelle
