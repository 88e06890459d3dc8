// Rates of the schedules against PyTorch's over 50 steps, and what is refused.
#include "volvelle/training/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "volvelle/base/error.h"
#include "volvelle/io/arrays.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t kSteps = 50;

ScheduleOptions golden_options(const ScheduleEntry& entry, bool warm) {
  ScheduleOptions options{.name = entry.name, .rate = 3e-3, .warm_up = warm ? 5 : 0};
  if (entry.needs_steps) options.steps = kSteps;
  if (entry.needs_steps && entry.reads_lowest) options.lowest = 3e-5;
  if (entry.reads_decay_steps) options.decay_steps = 12;
  return options;
}

TEST(Schedule, RatesArePyTorchs) {
  const NamedArrays golden =
      read_arrays(VOLVELLE_SOURCE_DIR "/tests/golden/training/schedules.npz");
  std::size_t compared = 0;
  for (const ScheduleEntry& entry : schedules()) {
    for (const bool warm : {false, true}) {
      const std::string name = std::string(entry.name) + (warm ? "_warm" : "");
      const Tensor* rates = find_array(golden, name);
      if (rates == nullptr) continue;
      ++compared;
      for (std::int64_t step = 1; step <= kSteps; ++step) {
        const double wanted = rates->data<double>()[step - 1];
        EXPECT_NEAR(rate_at(golden_options(entry, warm), step), wanted, 1e-12 * wanted + 1e-17)
            << name << " at step " << step;
      }
    }
    EXPECT_NE(find_array(golden, std::string(entry.name) + "_warm"), nullptr) << entry.name;
  }
  EXPECT_EQ(compared, golden.size());
}

TEST(Schedule, EveryWarmUpClimbsEvenlyToTheRate) {
  for (const ScheduleEntry& entry : schedules()) {
    const ScheduleOptions options = golden_options(entry, true);
    for (std::int64_t step = 1; step <= options.warm_up; ++step) {
      EXPECT_DOUBLE_EQ(rate_at(options, step), options.rate * static_cast<double>(step) / 5);
    }
    EXPECT_LE(rate_at(options, 6), options.rate) << entry.name;
  }
}

TEST(Schedule, BeyondTheLastStepTheLowestStays) {
  for (const ScheduleEntry& entry : schedules()) {
    if (!entry.needs_steps) continue;
    for (const std::int64_t step : {kSteps, kSteps + 1, 10 * kSteps}) {
      EXPECT_NEAR(rate_at(golden_options(entry, true), step), 3e-5, 1e-18) << entry.name;
    }
  }
  EXPECT_DOUBLE_EQ(
      rate_at({.name = "inverse-square-root", .rate = 1e-2, .lowest = 2e-3}, 1'000'000), 2e-3);
}

TEST(Schedule, ARunThatIsAllWarmUpEndsAtTheRate) {
  const ScheduleOptions options{.name = "cosine", .rate = 1, .warm_up = 4, .steps = 4};
  EXPECT_DOUBLE_EQ(rate_at(options, 4), 1);
  EXPECT_DOUBLE_EQ(rate_at(options, 5), 0);
}

void expect_refused(const ScheduleOptions& options, const std::string& text,
                    std::int64_t step = 1) {
  EXPECT_THAT([&] { rate_at(options, step); }, ThrowsMessage<InvalidArgument>(HasSubstr(text)));
}

TEST(Schedule, BadNumbersAreRefused) {
  expect_refused({.name = "cosin", .steps = 5}, "did you mean 'cosine'?");
  expect_refused({.rate = -1e-3}, "rate -0.001");
  expect_refused({.rate = std::numeric_limits<double>::quiet_NaN()}, "rate nan");
  expect_refused({.rate = std::numeric_limits<double>::infinity()}, "rate inf");
  expect_refused({.warm_up = -1}, "must not be negative");
  expect_refused({.name = "cosine"}, "needs steps");
  expect_refused({.name = "cosine", .warm_up = 6, .steps = 5}, "do not fit into steps 5");
  expect_refused({.name = "warm-up-stable-decay", .steps = 5}, "needs decay_steps");
  expect_refused({.name = "warm-up-stable-decay", .warm_up = 3, .steps = 5, .decay_steps = 3},
                 "do not fit");
  expect_refused({.name = "linear", .rate = 1e-3, .steps = 5, .lowest = 1e-2}, "lowest 0.01");
  expect_refused({.lowest = 1e-4}, "would be ignored");
  expect_refused({.name = "cosine", .steps = 9, .decay_steps = 3}, "would ignore it");
  expect_refused({}, "counted from 1", 0);
}

}  // namespace
}  // namespace volvelle
