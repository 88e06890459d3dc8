#include "volvelle/check/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Comparison compared(const std::vector<float>& ours, const std::vector<float>& theirs,
                    const Shape& shape, const CompareOptions& options = {}) {
  return compare(View(ours.data(), shape), View(theirs.data(), shape), options);
}

TEST(Compare, EqualArraysMatchWithoutAPlace) {
  const Comparison same = compared({1, 2, 3, 4}, {1, 2, 3, 4}, {2, 2});
  EXPECT_TRUE(same.matches);
  EXPECT_EQ(same.max_abs, 0);
  EXPECT_EQ(same.max_rel, 0);
  EXPECT_THAT(same.at, IsEmpty());
  EXPECT_EQ(same.elements, 4);
}

TEST(Compare, NamesTheWorstPlaceTheHeadTheRowsAndTheBatch) {
  std::vector<float> ours(2 * 3 * 4 * 2, 1.0f);
  std::vector<float> theirs = ours;
  theirs[((1 * 3 + 2) * 4 + 1) * 2 + 1] = 1.5f;  // batch 1, head 2, row 1, element 1
  theirs[((1 * 3 + 2) * 4 + 3) * 2 + 0] = 0.9f;
  theirs[((1 * 3 + 0) * 4 + 3) * 2 + 0] = 0.8f;
  const Comparison found = compared(ours, theirs, {2, 3, 4, 2});
  EXPECT_FALSE(found.matches);
  EXPECT_DOUBLE_EQ(found.max_abs, 0.5);
  EXPECT_THAT(found.at, ElementsAre(1, 2, 1, 1));
  EXPECT_EQ(found.ours_at, 1.0);
  EXPECT_EQ(found.theirs_at, 1.5);
  EXPECT_NEAR(found.max_rel, 0.5 / 1.5, 1e-12);
  EXPECT_EQ(found.failing, 3);
  EXPECT_EQ(found.failing_rows, 3);
  ASSERT_EQ(found.heads.size(), 2u);
  EXPECT_EQ(found.heads[0].index, 0);
  EXPECT_EQ(found.heads[1].index, 2);
  EXPECT_EQ(found.heads[1].failing, 2);
  ASSERT_EQ(found.batches.size(), 1u);
  EXPECT_EQ(found.batches[0].index, 1);
  EXPECT_EQ(found.batches[0].failing_rows, 3);
  ASSERT_EQ(found.worst_rows.size(), 3u);
  EXPECT_EQ(found.worst_rows[0].row, 1);
  EXPECT_GE(found.worst_rows[0].excess, found.worst_rows[1].excess);
}

TEST(Compare, KeepsAtMostEightWorstRowsInOrder) {
  std::vector<float> ours(20, 1.0f), theirs(20);
  for (std::size_t i = 0; i < theirs.size(); ++i) theirs[i] = 1.0f + static_cast<float>(i + 1);
  const Comparison found = compared(ours, theirs, {20, 1});
  ASSERT_EQ(found.worst_rows.size(), 8u);
  EXPECT_EQ(found.worst_rows[0].row, 19);
  EXPECT_EQ(found.worst_rows[7].row, 12);
  EXPECT_EQ(found.failing_rows, 20);
}

TEST(Compare, EqualInfinitiesAndTwoNaNMatch) {
  EXPECT_TRUE(
      compared({kInfinity, -kInfinity, kNan}, {kInfinity, -kInfinity, kNan}, {1, 3}).matches);
}

TEST(Compare, OneNonFiniteValueFailsWhateverTheTolerance) {
  const CompareOptions wide{.atol = 1e30, .rtol = 1e30};
  for (const float odd : {kInfinity, -kInfinity, kNan}) {
    for (const auto& pair : {std::pair{odd, 1.0f}, std::pair{1.0f, odd}}) {
      const Comparison found = compared({pair.first}, {pair.second}, {1, 1}, wide);
      EXPECT_FALSE(found.matches);
      EXPECT_EQ(found.nonfinite, 1);
      EXPECT_TRUE(std::isinf(found.max_abs));
    }
  }
  EXPECT_FALSE(compared({kInfinity}, {-kInfinity}, {1, 1}, wide).matches);
  EXPECT_FALSE(compared({kNan}, {kInfinity}, {1, 1}, wide).matches);
}

TEST(Compare, GivenTolerancesAreAbsolutePlusRelativeToTheFile) {
  const CompareOptions options{.atol = 0.01, .rtol = 0.1};
  EXPECT_TRUE(compared({0.905f}, {1.0f}, {1, 1}, options).matches);
  EXPECT_FALSE(compared({0.88f}, {1.0f}, {1, 1}, options).matches);
  // Relative to the element alone: a large neighbour allows nothing.
  EXPECT_FALSE(compared({0.0f, 100.0f}, {0.02f, 100.0f}, {1, 2}, options).matches);
}

TEST(Compare, ZeroToleranceWantsEqualNumbers) {
  const CompareOptions exact{.atol = 0, .rtol = 0};
  EXPECT_TRUE(compared({0.0f, 1.0f}, {-0.0f, 1.0f}, {1, 2}, exact).matches);
  EXPECT_FALSE(compared({1.0f}, {std::nextafter(1.0f, 2.0f)}, {1, 1}, exact).matches);
}

TEST(Compare, DefaultTolerancesFollowTheSizeOfTheRow) {
  // An element that cancels to nearly 0 in a row of ones has the rounding errors of ones.
  EXPECT_TRUE(compared({1e-7f, 1.0f, -1.0f}, {6e-7f, 1.0f, -1.0f}, {1, 3}).matches);
  // The same difference in a row of that size fails, though another row is large.
  EXPECT_FALSE(compared({1e-7f, 1e-7f}, {6e-7f, 1e-7f}, {1, 2}).matches);
}

TEST(Compare, TinyArraysAreNotWavedThrough) {
  EXPECT_FALSE(compared({1e-12f, 2e-12f}, {1.1e-12f, 2e-12f}, {1, 2}).matches);
}

TEST(Compare, AxesOfLengthOneMayComeAndGo) {
  const std::vector<float> ours{1, 2, 3, 4, 5, 6};
  EXPECT_TRUE(compare(View(ours.data(), {2, 3}), View(ours.data(), {1, 2, 1, 3}), {}).matches);
  EXPECT_TRUE(compare(View(ours.data(), {1, 2, 1, 3}), View(ours.data(), {2, 3}), {}).matches);
}

TEST(Compare, StridesAreHonoured) {
  const std::vector<float> ours{1, 2, 3, 4, 5, 6};
  const std::vector<float> turned{1, 4, 2, 5, 3, 6};
  EXPECT_TRUE(compare(View(ours.data(), {2, 3}), View(turned.data(), {2, 3}, {1, 2}), {}).matches);
}

TEST(Compare, DifferentShapesThrowWithBoth) {
  const std::vector<float> data(6);
  EXPECT_THAT([&] { compare(View(data.data(), {2, 3}), View(data.data(), {3, 2}), {}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("ours (2,3), theirs (3,2)")));
}

TEST(Compare, IntegersAndMissingArraysThrow) {
  const std::vector<float> data(6);
  const std::vector<std::int32_t> integers(6);
  EXPECT_THAT([&] { compare(View(data.data(), {6, 1}), View(integers.data(), {6, 1}), {}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("int32")));
  EXPECT_THROW(compare(View(data.data(), {6, 1}), View(), {}), InvalidArgument);
  EXPECT_THROW(compare(View(data.data(), {1, 1, 1, 6, 1}), View(data.data(), {6, 1}), {}),
               InvalidArgument);
}

TEST(Compare, NegativeAndNaNTolerancesThrow) {
  EXPECT_THROW(compared({1}, {1}, {1, 1}, {.atol = -1}), InvalidArgument);
  EXPECT_THROW(compared({1}, {1}, {1, 1}, {.rtol = std::nan("")}), InvalidArgument);
}

TEST(Compare, RowsOfOneNumberEach) {
  const std::vector<float> ours{0.5f, -kInfinity, 2.0f, 3.0f};
  std::vector<float> theirs = ours;
  theirs[3] = 3.1f;
  const Comparison found =
      compare_rows(View(ours.data(), {1, 2, 2}), View(theirs.data(), {2, 2}), {});
  EXPECT_FALSE(found.matches);
  EXPECT_THAT(found.at, ElementsAre(0, 1, 1));
  ASSERT_EQ(found.heads.size(), 1u);
  EXPECT_EQ(found.heads[0].index, 1);
}

TEST(Compare, TheCoarserTypeAndTheLongerSumDecide) {
  const auto f32 = DType::float32, f64 = DType::float64;
  EXPECT_LT(relative_tolerance(f64, f64, 64, 4096), 1e-13);
  EXPECT_EQ(relative_tolerance(f64, f32, 64, 4096), relative_tolerance(f32, f32, 64, 4096));
  EXPECT_GT(relative_tolerance(f32, f32, 64, 4096), relative_tolerance(f32, f32, 64, 128));
  EXPECT_GT(relative_tolerance(f32, f32, 128, 128), relative_tolerance(f32, f32, 64, 128));
  EXPECT_GT(relative_tolerance(DType::bfloat16, f32, 64, 128), 0x1p-7);
  EXPECT_GT(relative_tolerance(DType::float16, f32, 64, 128), 0x1p-10);
  EXPECT_LT(relative_tolerance(DType::float16, f32, 64, 128), 0x1p-8);
}

TEST(Compare, EmptyArraysMatch) {
  const std::vector<float> none;
  EXPECT_TRUE(compared(none, none, {2, 0, 3}).matches);
  EXPECT_TRUE(compared(none, none, {2, 3, 0}).matches);
}

}  // namespace
}  // namespace volvelle
