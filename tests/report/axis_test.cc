#include "report/axis.h"

#include <gtest/gtest.h>

#include <cmath>

namespace volvelle {
namespace {

std::vector<std::string> labels(const Axis& axis) {
  std::vector<std::string> texts;
  for (const Axis::Mark& mark : axis.marks) texts.push_back(mark.label);
  return texts;
}
using Texts = std::vector<std::string>;

TEST(ReportAxis, LinearMarksAreRoundNumbers) {
  EXPECT_EQ(labels(axis_over({0.3, 9.7}, {.whole_steps = true})),
            (Texts{"0", "2", "4", "6", "8", "10"}));
  EXPECT_EQ(labels(axis_over({0.3, 9.7}, {})), (Texts{"2", "4", "6", "8"}));
  EXPECT_EQ(labels(axis_over({-0.02, 0.03}, {.whole_steps = true})),
            (Texts{"-0.02", "-0.01", "0", "0.01", "0.02", "0.03"}));
  EXPECT_EQ(labels(axis_over({4, 5}, {.from_zero = true})), (Texts{"0", "1", "2", "3", "4", "5"}));
}

TEST(ReportAxis, PowersAreMarkedByTensOrByOneTwoFive) {
  EXPECT_EQ(labels(axis_over({0.08, 1.6}, {.log = true, .whole_steps = true})),
            (Texts{"0.05", "0.1", "0.2", "0.5", "1", "2"}));
  EXPECT_EQ(labels(axis_over({0.001, 1000}, {.log = true, .whole_steps = true, .marks = 6})),
            (Texts{"0.001", "0.01", "0.1", "1", "10", "100", "1000"}));
  EXPECT_EQ(labels(axis_over({1e-30, 1}, {.log = true, .marks = 3})).size(), 4u);
  EXPECT_EQ(labels(axis_over({3.1, 3.2}, {.log = true})), (Texts{"3.1", "3.2"}));
}

TEST(ReportAxis, PowersReachAsFarAsNumbersDo) {
  const double least = 5e-324, most = 1.7e308;
  const Axis axis = axis_over({least, most}, {.log = true, .whole_steps = true});
  EXPECT_GT(axis.low, 0);
  EXPECT_TRUE(std::isfinite(axis.high));
  EXPECT_NEAR(axis.share(least), 0, 1e-12);
  EXPECT_NEAR(axis.share(most), 1, 1e-12);
  for (const Axis::Mark& mark : axis.marks) EXPECT_GT(mark.at, 0);
}

TEST(ReportAxis, SharesRunFromNoneToOne) {
  const Axis linear = axis_over({2, 6}, {});
  EXPECT_DOUBLE_EQ(linear.share(2), 0);
  EXPECT_DOUBLE_EQ(linear.share(3), 0.25);
  const Axis powers = axis_over({1, 10000}, {.log = true});
  EXPECT_NEAR(powers.share(100), 0.5, 1e-12);
}

TEST(ReportAxis, ValuesWithoutAPlaceDoNotMoveIt) {
  const Axis axis = axis_over({-1, 0, 1, 100, std::nan(""), INFINITY}, {.log = true});
  EXPECT_EQ(axis.low, 1);
  EXPECT_EQ(axis.high, 100);
  EXPECT_FALSE(axis.places(0));
  EXPECT_FALSE(axis.places(std::nan("")));
  EXPECT_TRUE(axis.places(5));
}

TEST(ReportAxis, FlatAndMissingValuesStillHaveRoom) {
  for (const auto& values : {std::vector<double>{}, {0}, {7, 7}, {-3}}) {
    for (const bool log : {false, true}) {
      const Axis axis = axis_over(values, {.log = log, .whole_steps = true});
      EXPECT_LT(axis.low, axis.high);
      EXPECT_GE(axis.marks.size(), 2u);
      if (!values.empty() && axis.places(values[0])) {
        EXPECT_GE(axis.share(values[0]), 0);
        EXPECT_LE(axis.share(values[0]), 1);
      }
    }
  }
}

TEST(ReportAxis, FewValuesThatStandApartAreTheMarks) {
  EXPECT_EQ(labels(axis_at({12, 24, 48, 12}, {})), (Texts{"12", "24", "48"}));
  EXPECT_EQ(labels(axis_at({2, 8, 64, 512}, {.log = true})), (Texts{"2", "8", "64", "512"}));
  EXPECT_EQ(labels(axis_at({0, 0.1, 10}, {})), (Texts{"0", "2", "4", "6", "8", "10"}));
}

}  // namespace
}  // namespace volvelle
