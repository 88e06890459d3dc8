#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "training/schedules.h"
#include "volvelle/base/error.h"
#include "volvelle/base/suggestion.h"

namespace volvelle {
namespace {

// s: step; top: max(warm_up, 1); D: decay_steps.
constexpr std::array kSchedules{
    ScheduleEntry{.name = "constant",
                  .formula = "rate",
                  .rate = constant_rate,
                  .needs_steps = false,
                  .reads_lowest = false,
                  .reads_decay_steps = false},
    ScheduleEntry{.name = "linear",
                  .formula = "rate + (lowest - rate) * (s - top) / (steps - top)",
                  .rate = linear_rate,
                  .needs_steps = true,
                  .reads_lowest = true,
                  .reads_decay_steps = false},
    ScheduleEntry{
        .name = "cosine",
        .formula = "lowest + (rate - lowest) * (1 + cos(pi * (s - top) / (steps - top))) / 2",
        .rate = cosine_rate,
        .needs_steps = true,
        .reads_lowest = true,
        .reads_decay_steps = false},
    ScheduleEntry{.name = "inverse-square-root",
                  .formula = "max(lowest, rate * sqrt(top / s))",
                  .rate = inverse_square_root_rate,
                  .needs_steps = false,
                  .reads_lowest = true,
                  .reads_decay_steps = false},
    ScheduleEntry{.name = "warm-up-stable-decay",
                  .formula = "rate up to step steps - D, then rate + (lowest - rate) * "
                             "(s - steps + D) / D",
                  .rate = warm_up_stable_decay_rate,
                  .needs_steps = true,
                  .reads_lowest = true,
                  .reads_decay_steps = true},
};

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("[schedule] " + text); }

const ScheduleEntry& entry_named(const std::string& name) {
  std::vector<std::string> names;
  for (const ScheduleEntry& entry : kSchedules) {
    if (name == entry.name) return entry;
    names.emplace_back(entry.name);
  }
  refuse("no schedule is called '" + name + "'" + suggestion(name, names));
}

void check_rates(const ScheduleOptions& options) {
  if (!(options.rate >= 0) || !std::isfinite(options.rate)) {
    refuse("rate " + std::to_string(options.rate) + " must be a number of at least 0");
  }
  if (!(options.lowest >= 0 && options.lowest <= options.rate)) {
    refuse("lowest " + std::to_string(options.lowest) + " must lie between 0 and the rate " +
           std::to_string(options.rate));
  }
}

void check_steps(const ScheduleOptions& options, const ScheduleEntry& entry) {
  const std::string name = entry.name;
  if (options.warm_up < 0 || options.steps < 0 || options.decay_steps < 0) {
    refuse("warm_up " + std::to_string(options.warm_up) + ", steps " +
           std::to_string(options.steps) + " and decay_steps " +
           std::to_string(options.decay_steps) + " must not be negative");
  }
  if (entry.needs_steps && options.steps == 0) {
    refuse("'" + name + "' comes down over the run and needs steps, the length of it");
  }
  if (options.steps > 0 && options.warm_up + options.decay_steps > options.steps) {
    refuse("warm_up " + std::to_string(options.warm_up) + " and decay_steps " +
           std::to_string(options.decay_steps) + " do not fit into steps " +
           std::to_string(options.steps));
  }
  if (entry.reads_decay_steps && options.decay_steps == 0) {
    refuse("'" + name + "' needs decay_steps, the length of the way down");
  }
}

void check_read(const ScheduleOptions& options, const ScheduleEntry& entry) {
  const std::string name = entry.name;
  if (!entry.reads_lowest && options.lowest != 0) {
    refuse("'" + name + "' does not come down: lowest " + std::to_string(options.lowest) +
           " would be ignored");
  }
  if (!entry.reads_decay_steps && options.decay_steps != 0) {
    refuse("decay_steps " + std::to_string(options.decay_steps) +
           " belongs to 'warm-up-stable-decay'; '" + name + "' would ignore it");
  }
}

}  // namespace

std::span<const ScheduleEntry> schedules() { return kSchedules; }

double rate_at(const ScheduleOptions& options, std::int64_t step) {
  const ScheduleEntry& entry = entry_named(options.name);
  check_rates(options);
  check_steps(options, entry);
  check_read(options, entry);
  if (step < 1) refuse("step " + std::to_string(step) + ": steps are counted from 1");
  if (step <= options.warm_up) {
    return options.rate * static_cast<double>(step) / static_cast<double>(options.warm_up);
  }
  return entry.rate(options, step);
}

}  // namespace volvelle
