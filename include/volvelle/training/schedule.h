#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "volvelle/base/export.h"

namespace volvelle {

/// How the rate goes over a run. Steps are counted from 1. Any schedule may begin with a warm-up:
/// step s <= warm_up has rate * s / warm_up. Those that come down have the full rate at step
/// max(warm_up, 1) and `lowest` at the last one, and stay there.
struct ScheduleOptions {
  std::string name = "constant";  ///< one of schedules()
  double rate = 1e-3;             ///< the highest
  std::int64_t warm_up = 0;       ///< steps of the climb
  std::int64_t steps = 0;         ///< of the whole run; needed by those that come down by it
  double lowest = 0;              ///< rate at the end, or below which it does not fall
  std::int64_t decay_steps = 0;   ///< warm-up-stable-decay: of the way down
};

/// A line of the table of schedules.
struct ScheduleEntry {
  const char* name;
  const char* formula;
  double (*rate)(const ScheduleOptions& options, std::int64_t step);  ///< after the warm-up
  bool needs_steps;
  bool reads_lowest;
  bool reads_decay_steps;
};
VOLVELLE_API std::span<const ScheduleEntry> schedules();

/// The rate of a step. Throws InvalidArgument for an unknown name (with a suggestion), a negative
/// rate, numbers that contradict each other or that the schedule does not read, and steps below 1.
VOLVELLE_API double rate_at(const ScheduleOptions& options, std::int64_t step);

}  // namespace volvelle
