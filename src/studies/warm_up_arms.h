#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "volvelle/training/schedule.h"

namespace volvelle {

/// One way to come to a rate.
struct WarmUpArm {
  enum class Kind : std::uint8_t { constant, warm_up, mean };

  Kind kind = Kind::constant;
  std::int64_t warm_up = 0;  ///< steps; of `mean`: of the warm-up whose mean rate it has

  std::string name() const;  ///< "none", "warm-up 100", "mean of 100"
};

/// None for a 0, else the warm-up and the constant rate of its mean.
std::vector<WarmUpArm> warm_up_arms(const std::vector<std::int64_t>& warm_up);

/// The rates of a run of so many steps whose full rate is `rate`.
ScheduleOptions arm_schedule(const WarmUpArm& arm, double rate, std::int64_t steps);

}  // namespace volvelle
