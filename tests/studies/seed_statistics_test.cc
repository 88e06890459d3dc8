#include "studies/seed_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace volvelle {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> up_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(SeedStatistics, MedianOfAnEvenCountIsTheLowerMiddle) {
  EXPECT_EQ(lower_median(std::vector<double>{4, 1, 3, 2}), 2);
  EXPECT_EQ(lower_median(std::vector<double>{5, 1, 3}), 3);
  EXPECT_EQ(lower_median(std::vector<double>{7}), 7);
  EXPECT_TRUE(std::isnan(lower_median({})));
}

TEST(SeedStatistics, WhatIsNoNumberCountsAsTheLargest) {
  EXPECT_EQ(lower_median(std::vector<double>{kNaN, 1, kNaN, 2}), 2);
  const SeedSpread spread = spread_of(std::vector<double>{kNaN, 3, 1});
  EXPECT_EQ(spread.minimum, 1);
  EXPECT_EQ(spread.median, 3);
  EXPECT_TRUE(std::isnan(spread.maximum));
}

// Printed in tables of the binomial: for n = 20 the 6th and the 15th value cover 0.9586.
TEST(SeedStatistics, IntervalOfTheMedianIsTheTables) {
  const MedianInterval twenty = median_interval(up_to(20));
  EXPECT_EQ(twenty.low, 6);
  EXPECT_EQ(twenty.high, 15);
  EXPECT_NEAR(twenty.coverage, 0.95861, 1e-5);
  const MedianInterval six = median_interval(up_to(6));
  EXPECT_EQ(six.low, 1);
  EXPECT_EQ(six.high, 6);
  EXPECT_NEAR(six.coverage, 1 - 2.0 / 64, 1e-12);
}

TEST(SeedStatistics, TooFewValuesGiveTheirRangeAndSayHowLittleItCovers) {
  const MedianInterval five = median_interval(up_to(5));
  EXPECT_EQ(five.low, 1);
  EXPECT_EQ(five.high, 5);
  EXPECT_NEAR(five.coverage, 0.9375, 1e-12);
  EXPECT_EQ(median_interval(up_to(1)).coverage, 0);
  EXPECT_EQ(median_interval({}).coverage, 0);
}

TEST(SeedStatistics, IntervalOfThousandsOfValuesDoesNotUnderflow) {
  const MedianInterval many = median_interval(up_to(4001));
  EXPECT_GE(many.coverage, 0.95);
  EXPECT_LT(many.coverage, 0.955);
  EXPECT_NEAR(many.high - many.low, 1.96 * std::sqrt(4001.0), 4);
}

TEST(SeedStatistics, SignTestIsTheExactBinomial) {
  const SignTest all_above = sign_test(up_to(20));
  EXPECT_EQ(all_above.above, 20);
  EXPECT_NEAR(all_above.probability, std::pow(2.0, -19), 1e-15);
  const SignTest mixed = sign_test(std::vector<double>{1, -1, 1, 1, 0});
  EXPECT_EQ(mixed.above, 3);
  EXPECT_EQ(mixed.below, 1);
  EXPECT_NEAR(mixed.probability, 0.625, 1e-12);  // 2 (1 + 4) / 16
  EXPECT_EQ(sign_test(std::vector<double>{1, -1}).probability, 1);
  EXPECT_EQ(sign_test({}).probability, 1);
}

TEST(SeedStatistics, SlopeIsThatOfLeastSquares) {
  const std::vector<double> x{0, 1, 2, 3};
  EXPECT_NEAR(slope_of(x, std::vector<double>{1, 3, 5, 7}), 2, 1e-12);
  EXPECT_NEAR(slope_of(x, std::vector<double>{0, 1, 1, 0}), 0, 1e-12);
  EXPECT_NEAR(slope_of(x, std::vector<double>{1, 0, 0, 3}), 0.6, 1e-12);
  EXPECT_TRUE(std::isnan(slope_of(std::vector<double>{2, 2}, std::vector<double>{1, 5})));
}

}  // namespace
}  // namespace volvelle
