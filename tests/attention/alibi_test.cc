#include "volvelle/attention/alibi.h"

#include <gtest/gtest.h>

#include <cmath>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

TEST(Alibi, EightHeadsHalveFromOneHalf) {
  const std::vector<double> slopes = alibi_slopes(8);
  ASSERT_EQ(slopes.size(), 8u);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(slopes[static_cast<std::size_t>(i)], std::exp2(-1 - i));
}

TEST(Alibi, SixHeadsTakeTwoOddStepsOfTheNextSequence) {
  EXPECT_EQ(alibi_slopes(6),
            (std::vector<double>{1.0 / 4, 1.0 / 16, 1.0 / 64, 1.0 / 256, 1.0 / 2, 1.0 / 8}));
}

// For every count up to 64 by another road: the slopes of p heads are 2^(-8/p) to the powers
// 1..p, and those beyond are every second one of twice as many heads.
TEST(Alibi, EveryCountUpTo64FollowsTheRule) {
  for (int heads = 1; heads <= 64; ++heads) {
    const std::vector<double> slopes = alibi_slopes(heads);
    ASSERT_EQ(slopes.size(), static_cast<std::size_t>(heads));
    const int power = 1 << static_cast<int>(std::floor(std::log2(heads)));
    for (int h = 0; h < heads; ++h) {
      const double root = std::pow(2.0, -8.0 / (h < power ? power : 2 * power));
      const int exponent = h < power ? h + 1 : 2 * (h - power) + 1;
      EXPECT_NEAR(slopes[static_cast<std::size_t>(h)] / std::pow(root, exponent), 1, 1e-13)
          << heads << " heads, head " << h;
    }
  }
}

TEST(Alibi, NoHeadsAreRefused) { EXPECT_THROW(alibi_slopes(0), InvalidArgument); }

}  // namespace
}  // namespace volvelle
