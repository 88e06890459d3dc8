#include "studies/warm_up_arms.h"

namespace volvelle {

std::string WarmUpArm::name() const {
  switch (kind) {
    case Kind::warm_up:
      return "warm-up " + std::to_string(warm_up);
    case Kind::mean:
      return "mean of " + std::to_string(warm_up);
    case Kind::constant:
      break;
  }
  return "none";
}

std::vector<WarmUpArm> warm_up_arms(const std::vector<std::int64_t>& warm_up) {
  std::vector<WarmUpArm> arms;
  for (const std::int64_t steps : warm_up) {
    if (steps == 0) {
      arms.push_back({WarmUpArm::Kind::constant, 0});
    } else {
      arms.push_back({WarmUpArm::Kind::warm_up, steps});
      arms.push_back({WarmUpArm::Kind::mean, steps});
    }
  }
  return arms;
}

ScheduleOptions arm_schedule(const WarmUpArm& arm, double rate, std::int64_t steps) {
  ScheduleOptions schedule{.name = "constant", .rate = rate, .warm_up = arm.warm_up};
  if (arm.kind != WarmUpArm::Kind::mean) return schedule;
  double sum = 0;
  for (std::int64_t step = 1; step <= steps; ++step) sum += rate_at(schedule, step);
  return {.name = "constant", .rate = sum / static_cast<double>(steps), .warm_up = 0};
}

}  // namespace volvelle
