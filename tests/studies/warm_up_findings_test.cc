#include "studies/warm_up_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "studies/warm_up_reading.h"
#include "volvelle/training/schedule.h"

namespace volvelle {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const WarmUpArm kNone{WarmUpArm::Kind::constant, 0};
const WarmUpArm kClimb{WarmUpArm::Kind::warm_up, 100};
const WarmUpArm kMean{WarmUpArm::Kind::mean, 100};

/// Each cell's runs as letters: l learned, s stuck, b broke.
WarmUpRow row(const std::string& placement, const WarmUpArm& arm,
              const std::vector<std::string>& cells, std::int64_t depth = 6) {
  const double rates[] = {0.001, 0.01, 0.1, 1};
  WarmUpRow made;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    WarmUpCell& cell = made.cells.emplace_back(WarmUpCell{placement, depth, rates[i], arm});
    for (const char letter : cells[i]) {
      WarmUpOutcome outcome;
      outcome.finished = true;
      outcome.verdict = letter == 'l'   ? RunVerdict::learned
                        : letter == 'b' ? RunVerdict::broke
                                        : RunVerdict::stuck;
      cell.outcomes.push_back(outcome);
    }
  }
  return made;
}

WarmUpGrid grid_of(std::vector<WarmUpRow> rows) {
  WarmUpGrid grid;
  grid.rows = std::move(rows);
  return grid;
}

WarmUpOptions options_of(const std::vector<std::string>& placements,
                         const std::vector<std::int64_t>& depths = {6}) {
  WarmUpOptions options;
  options.placements = placements;
  options.depths = depths;
  options.rates = {0.001, 0.01, 0.1};
  return options;
}

TEST(WarmUpArms, AWarmUpComesWithTheConstantRateOfItsMean) {
  const auto arms = warm_up_arms({0, 100});
  ASSERT_EQ(arms.size(), 3u);
  EXPECT_EQ(arms[0].name(), "none");
  EXPECT_EQ(arms[1].name(), "warm-up 100");
  EXPECT_EQ(arms[2].name(), "mean of 100");
  const auto mean_of = [](const ScheduleOptions& schedule) {
    double sum = 0;
    for (std::int64_t step = 1; step <= 300; ++step) sum += rate_at(schedule, step);
    return sum / 300;
  };
  const ScheduleOptions climb = arm_schedule(kClimb, 0.3, 300);
  EXPECT_NEAR(rate_at(climb, 1), 0.003, 1e-15);
  EXPECT_NEAR(rate_at(climb, 100), 0.3, 1e-15);
  EXPECT_NEAR(mean_of(climb), 0.3 * (1 - 49.5 / 300), 1e-12);
  const ScheduleOptions mean = arm_schedule(kMean, 0.3, 300);
  EXPECT_EQ(rate_at(mean, 1), rate_at(mean, 300));
  EXPECT_NEAR(mean_of(mean), mean_of(climb), 1e-12);
  EXPECT_EQ(rate_at(arm_schedule(kNone, 0.3, 300), 1), 0.3);
}

TEST(WarmUpEdges, LieWhereANeighbourOrASeedEndedOtherwise) {
  const WarmUpRow falling = row("post", kNone, {"l", "l", "s", "b"});
  EXPECT_FALSE(is_at_edge(falling, 0));
  EXPECT_TRUE(is_at_edge(falling, 1));
  EXPECT_TRUE(is_at_edge(falling, 2));
  EXPECT_FALSE(is_at_edge(falling, 3));  // stuck or broken: not learned either way
  const WarmUpRow mixed = row("post", kNone, {"ls", "l", "l"});
  EXPECT_TRUE(is_at_edge(mixed, 0));
  EXPECT_TRUE(is_at_edge(mixed, 1));  // one of two is not most
  EXPECT_FALSE(is_at_edge(mixed, 2));
  const WarmUpRow unfinished = row("post", kNone, {"l", "", "s"});
  for (std::size_t rate = 0; rate < 3; ++rate) EXPECT_FALSE(is_at_edge(unfinished, rate)) << rate;
}

TEST(WarmUpEdges, WhatIsHeldAgainstAnEdgeWantsSeedsToo) {
  const WarmUpGrid grid =
      grid_of({row("pre", kNone, {"l", "l", "l"}), row("pre", kClimb, {"l", "l", "l"}),
               row("post", kNone, {"l", "s", "s"}), row("post", kClimb, {"l", "l", "l"}),
               row("pre", kNone, {"l", "l", "l"}, 12)});
  const auto wanting = [&](std::size_t r) {
    std::vector<bool> wants;
    for (std::size_t rate = 0; rate < 3; ++rate) {
      wants.push_back(wants_seeds(grid, grid.rows[r], rate));
    }
    return wants;
  };
  EXPECT_THAT(wanting(2), ElementsAre(true, true, false));   // its own edge
  EXPECT_THAT(wanting(0), ElementsAre(false, true, false));  // same arm, other placement
  EXPECT_THAT(wanting(3), ElementsAre(false, true, false));  // same placement, other arm
  EXPECT_THAT(wanting(1), ElementsAre(false, false, false));
  EXPECT_THAT(wanting(4), ElementsAre(false, false, false));  // another depth
}

TEST(WarmUpFindings, AFailingRateHasAnIntervalAndAReason) {
  const WarmUpGrid grid = grid_of({row("post", kNone, {"lll", "lls", "lss", "bbb"})});
  const auto found = failing_rate(grid, grid.rows[0]);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rate(), 0.1);
  EXPECT_EQ(found->low, 0.001);
  EXPECT_EQ(found->high, 1.0);
  EXPECT_TRUE(found->lower_rate_learned);
  EXPECT_FALSE(found->warm_up_learned);
}

TEST(WarmUpFindings, AWarmUpThatLearnsMakesAFailureOfTheRate) {
  const WarmUpGrid grid = grid_of({row("post", kNone, {"s", "s"}), row("post", kClimb, {"l", "s"}),
                                   row("pre", kNone, {"s", "s"}), row("post", kMean, {"l", "l"})});
  const auto found = failing_rate(grid, grid.rows[0]);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rate(), 0.001);
  EXPECT_FALSE(found->low);
  EXPECT_FALSE(found->lower_rate_learned);
  EXPECT_TRUE(found->warm_up_learned);
  EXPECT_FALSE(failing_rate(grid, grid.rows[2]));  // nothing like it learned
  EXPECT_FALSE(failing_rate(grid, grid.rows[3]));  // never failed
  EXPECT_TRUE(failing_rate(grid, grid.rows[1]));
}

TEST(WarmUpFindings, PairsAreOfOneRateAndSeed) {
  const PairedRuns pairs =
      paired_runs(row("pre", kNone, {"lll", "ll"}), row("post", kNone, {"lsb", "l"}));
  EXPECT_EQ(pairs.both, 2);
  EXPECT_EQ(pairs.only_first, 2);
  EXPECT_EQ(pairs.only_second, 0);
  EXPECT_EQ(pairs.neither, 0);
  EXPECT_EQ(pairs.chance(), 0.5);
  EXPECT_EQ((PairedRuns{.only_first = 6}).chance(), 0.03125);
  EXPECT_EQ((PairedRuns{.only_first = 3, .only_second = 3}).chance(), 1);
  EXPECT_EQ(PairedRuns{}.chance(), 1);
  EXPECT_NEAR((PairedRuns{.only_first = 9, .only_second = 1}).chance(), 22.0 / 1024, 1e-15);
}

TEST(WarmUpFindings, SharesHaveWilsonsInterval) {
  EXPECT_NEAR(share_interval(3, 3).low, 0.4385, 5e-5);
  EXPECT_EQ(share_interval(3, 3).high, 1);
  EXPECT_NEAR(share_interval(5, 10).low, 0.2366, 5e-5);
  EXPECT_NEAR(share_interval(5, 10).high, 0.7634, 5e-5);
  EXPECT_EQ(share_interval(0, 0).low, 0);
  EXPECT_EQ(share_interval(0, 0).high, 1);
}

TEST(WarmUpReading, SaysWhatTheClimbDidAndWhatTheMeanDidNot) {
  const auto reading = warm_up_reading(
      options_of({"pre", "post"}),
      grid_of({row("pre", kNone, {"lll", "lll", "lll"}), row("pre", kClimb, {"l", "l", "l"}),
               row("pre", kMean, {"l", "l", "l"}), row("post", kNone, {"lll", "sss", "sbs"}),
               row("post", kClimb, {"lll", "lll", "sss"}),
               row("post", kMean, {"lll", "sss", "sss"})}));
  EXPECT_THAT(reading, Contains(HasSubstr("post fails from a rate of 0.01 on (all seeds learned at "
                                          "0.001, none at 0.01)")));
  EXPECT_THAT(reading, Contains(HasSubstr("pre learns and post does not at 0.01 (3 of 3 against 0 "
                                          "of 3), 0.1 (3 of 3 against 0 of 3)")));
  EXPECT_THAT(reading, Contains(HasSubstr("what counts is the climb, not a smaller rate")));
  EXPECT_THAT(reading, Contains(HasSubstr("15 runs that did not learn, 14 stuck")));
  EXPECT_THAT(reading, Not(Contains(HasSubstr("It did not happen"))));
}

TEST(WarmUpReading, SaysThatASmallerRateIsEnoughWhereItIs) {
  const auto reading = warm_up_reading(
      options_of({"post"}),
      grid_of({row("post", kNone, {"l", "s", "s"}), row("post", kClimb, {"l", "l", "s"}),
               row("post", kMean, {"l", "l", "s"})}));
  EXPECT_THAT(reading, Contains(HasSubstr("a smaller rate is enough")));
}

TEST(WarmUpReading, SaysThatItDidNotHappen) {
  const std::vector<std::string> all{"l", "l", "s"};
  const auto reading = warm_up_reading(
      options_of({"pre", "post"}),
      grid_of({row("pre", kNone, all), row("pre", kClimb, all), row("pre", kMean, all),
               row("post", kNone, all), row("post", kClimb, all), row("post", kMean, all)}));
  EXPECT_THAT(reading, Contains(HasSubstr("It did not happen at these sizes")));
}

TEST(WarmUpReading, IsNoneWherePreLearnedNowhere) {
  const std::vector<std::string> none{"s", "s", "b"}, some{"l", "s", "s"};
  const auto reading = warm_up_reading(
      options_of({"pre", "post"}),
      grid_of({row("pre", kNone, none), row("pre", kClimb, none), row("pre", kMean, none),
               row("post", kNone, some), row("post", kClimb, some), row("post", kMean, some)}));
  ASSERT_EQ(reading.size(), 1u);
  EXPECT_THAT(reading[0], HasSubstr("there is no reading"));
}

TEST(WarmUpReading, SpeaksOfWhatWasMeasuredOnly) {
  const std::vector<std::string> unmeasured{"", "", ""}, some{"l", "", ""}, stuck{"s", "", ""};
  const auto grid = [&](const std::vector<std::string>& pre) {
    return grid_of({row("pre", kNone, pre), row("pre", kClimb, unmeasured),
                    row("pre", kMean, unmeasured), row("post", kNone, unmeasured),
                    row("post", kClimb, unmeasured), row("post", kMean, unmeasured)});
  };
  const auto never = AnyOf(HasSubstr("learned at no rate"), HasSubstr("learns at no rate"),
                           HasSubstr("It did not happen"), HasSubstr("all tried"));
  for (const auto& cells : {unmeasured, some, stuck}) {
    EXPECT_THAT(warm_up_reading(options_of({"pre", "post"}), grid(cells)), Not(Contains(never)));
  }
  EXPECT_THAT(warm_up_reading(options_of({"pre", "post"}), grid(some)),
              Contains(HasSubstr("pre fails at none of the rates; post was not measured")));
}

TEST(WarmUpReading, ARateTooLowIsNoFailure) {
  const auto reading = warm_up_reading(
      options_of({"pre"}),
      grid_of({row("pre", kNone, {"s", "s", "l"}), row("pre", kClimb, {"s", "l", "l"}),
               row("pre", kMean, {"s", "s", "l"})}));
  EXPECT_THAT(reading, Contains(HasSubstr("pre learns from a rate of 0.01 on")));
  EXPECT_THAT(reading, Not(Contains(HasSubstr("fails at none"))));
}

TEST(WarmUpReading, IsNoneForADepthWherePreLearnedNowhere) {
  const std::vector<std::string> none{"s", "s", "b"}, some{"l", "s", "s"};
  const auto reading =
      warm_up_reading(options_of({"pre"}, {6, 12}),
                      grid_of({row("pre", kNone, some), row("pre", kClimb, some),
                               row("pre", kMean, some), row("pre", kNone, none, 12),
                               row("pre", kClimb, none, 12), row("pre", kMean, none, 12)}));
  EXPECT_THAT(reading, Contains(HasSubstr("no reading of this depth")));
  EXPECT_THAT(reading, Contains(HasSubstr("pre: 0.01, all tried")));
}

}  // namespace
}  // namespace volvelle
