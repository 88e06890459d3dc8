#include "studies/warm_up_verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace volvelle {
namespace {

constexpr double kGuess = 1.4, kFirst = 1.5;

/// A watch that saw `before` of one loss, then `after` of another.
VerdictWatch watched(int before, double one, int after, double two) {
  VerdictWatch watch(kFirst, kGuess);
  for (int i = 0; i < before; ++i) watch.add(one);
  for (int i = 0; i < after; ++i) watch.add(two);
  return watch;
}

TEST(WarmUpVerdict, GoesByTheMeanOfTheLastTwentyLosses) {
  EXPECT_EQ(watched(30, 1.4, 20, 0.97).verdict(), RunVerdict::learned);  // below 0.98
  EXPECT_EQ(watched(30, 1.4, 20, 0.99).verdict(), RunVerdict::stuck);
  EXPECT_EQ(watched(30, 0.1, 20, 1.4).verdict(), RunVerdict::stuck);  // it had learned, once
  // Ten losses at 1.4 and ten at 0.5: the mean is 0.95.
  EXPECT_EQ(watched(30, 1.4, 10, 0.5).verdict(), RunVerdict::learned);
  EXPECT_EQ(watched(30, 1.4, 9, 0.5).verdict(), RunVerdict::stuck);
  EXPECT_NEAR(watched(30, 1.4, 10, 0.5).last_mean(), 0.95, 1e-12);
}

TEST(WarmUpVerdict, TwentyHighLossesInARowBreakIt) {
  VerdictWatch watch(kFirst, kGuess);
  for (int i = 0; i < 19; ++i) watch.add(1.6);  // above 1.575
  EXPECT_FALSE(watch.broken());
  watch.add(1.6);
  EXPECT_TRUE(watch.broken());
  EXPECT_EQ(watch.verdict(), RunVerdict::broke);
}

TEST(WarmUpVerdict, AHighLossNowAndThenDoesNot) {
  VerdictWatch watch(kFirst, kGuess);
  for (int i = 0; i < 100; ++i) watch.add(i % 20 == 19 ? 1.4 : 1.576);
  EXPECT_FALSE(watch.broken());
  for (int i = 0; i < 20; ++i) watch.add(1.4);
  EXPECT_EQ(watch.verdict(), RunVerdict::stuck);
  // A spike that is over is no break: the run ends where it ends.
  EXPECT_EQ(watched(19, 9.0, 20, 0.2).verdict(), RunVerdict::learned);
}

TEST(WarmUpVerdict, AHighMeanAtTheEndIsABreak) {
  VerdictWatch watch(kFirst, kGuess);
  for (int i = 0; i < 40; ++i) watch.add(i % 2 == 0 ? 0.5 : 9.0);
  EXPECT_FALSE(watch.broken());
  EXPECT_EQ(watch.verdict(), RunVerdict::broke);
}

TEST(WarmUpVerdict, WhatIsNotFiniteBreaksItAtOnceAndForGood) {
  for (const double loss :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    VerdictWatch watch = watched(30, 0.1, 1, loss);
    EXPECT_TRUE(watch.broken());
    for (int i = 0; i < 40; ++i) watch.add(0.1);
    EXPECT_EQ(watch.verdict(), RunVerdict::broke);
  }
}

// What chance does to a mean of twenty small batches is no break.
TEST(WarmUpVerdict, AFrozenNetworkIsStuckHoweverItsBatchesFall) {
  VerdictWatch noisy(kFirst, kGuess, 0.5);  // up to 1.5 + 4 * 0.5 / sqrt(20) = 1.947
  VerdictWatch steady(kFirst, kGuess, 0.01);
  for (int i = 0; i < 20; ++i) {
    noisy.add(1.9);
    steady.add(1.9);
  }
  EXPECT_FALSE(noisy.broken());
  EXPECT_EQ(noisy.verdict(), RunVerdict::stuck);
  EXPECT_EQ(steady.verdict(), RunVerdict::broke);
  for (int i = 0; i < 20; ++i) noisy.add(1.95);
  EXPECT_EQ(noisy.verdict(), RunVerdict::broke);
}

TEST(WarmUpVerdict, HasNames) {
  EXPECT_EQ(name_of(RunVerdict::learned), "learned");
  EXPECT_EQ(name_of(RunVerdict::stuck), "stuck");
  EXPECT_EQ(name_of(RunVerdict::broke), "broke");
}

}  // namespace
}  // namespace volvelle
