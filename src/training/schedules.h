#pragma once

#include <cstdint>

#include "volvelle/training/schedule.h"

namespace volvelle {

// The rate of a step behind the warm-up, one schedule a file; options are checked.
double constant_rate(const ScheduleOptions& options, std::int64_t step);
double linear_rate(const ScheduleOptions& options, std::int64_t step);
double cosine_rate(const ScheduleOptions& options, std::int64_t step);
double inverse_square_root_rate(const ScheduleOptions& options, std::int64_t step);
double warm_up_stable_decay_rate(const ScheduleOptions& options, std::int64_t step);

/// How much of the way from step `first` to step `last` lies behind `step`: 0 to 1.
double share_of_way(std::int64_t first, std::int64_t step, std::int64_t last);

/// The step with the full rate that a way down starts from: the last of the warm-up, or the first.
std::int64_t top_step(const ScheduleOptions& options);

}  // namespace volvelle
