#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "volvelle/base/export.h"

namespace volvelle {

struct ScheduleOptions {
  std::string name = "constant";  ///< one of schedules()
  double rate = 1e-3;             ///< the highest
  std::int64_t warm_up = 0;       ///< steps of a linear climb from rate / warm_up
  std::int64_t steps = 0;         ///< of the whole run; needed by those that come down
  double lowest = 0;              ///< rate at the end
  std::int64_t decay_steps = 0;   ///< warm-up-stable-decay: of the way down
};

/// A line of the table of schedules.
struct ScheduleEntry {
  const char* name;
  const char* formula;
  double (*rate)(const ScheduleOptions& options, std::int64_t step);  ///< step counted from 1
};
VOLVELLE_API std::span<const ScheduleEntry> schedules();

/// The rate of a step, counted from 1. Throws InvalidArgument for an unknown name (with a
/// suggestion), a negative rate and numbers that contradict each other.
VOLVELLE_API double rate_at(const ScheduleOptions& options, std::int64_t step);

}  // namespace volvelle
