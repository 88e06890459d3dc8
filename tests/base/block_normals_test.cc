#include "base/block_normals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/fused.h"
#include "support/random_vectors.h"

namespace volvelle {
namespace {

using testing::hex_of;
using testing::random_vectors;

TEST(BlockNormals, LogHasThePublishedBits) {
  const auto& rows = random_vectors()["float_functions"]["log: [k, u1=1-k/2^24, log]"];
  ASSERT_EQ(rows.size(), 16u);
  for (const auto& row : rows) {
    const float number = 1.0f - static_cast<float>(row[0].get<int>()) * 0x1p-24f;
    ASSERT_EQ(hex_of(std::vector{number}), row[1]);
    EXPECT_EQ(hex_of(std::vector{block_log(number)}), row[2]) << row[0];
  }
}

TEST(BlockNormals, SineAndCosineHaveThePublishedBits) {
  const auto& rows = random_vectors()["float_functions"]["sincos: [k, theta=2pi*k/2^24, sin, cos]"];
  ASSERT_EQ(rows.size(), 16u);
  for (const auto& row : rows) {
    const float angle = 6.283185307179586f * (static_cast<float>(row[0].get<int>()) * 0x1p-24f);
    ASSERT_EQ(hex_of(std::vector{angle}), row[1]);
    float sine, cosine;
    block_sine_cosine(angle, sine, cosine);
    EXPECT_EQ(hex_of(std::vector{sine}), row[2]) << row[0];
    EXPECT_EQ(hex_of(std::vector{cosine}), row[3]) << row[0];
  }
}

TEST(BlockNormals, AreNearTheLibrarysFunctions) {
  for (int k = 1; k < 1 << 24; k += 9973) {
    const float unit = static_cast<float>(k) * 0x1p-24f;
    EXPECT_NEAR(block_log(unit), std::log(unit), 1e-6 * std::abs(std::log(unit)) + 1e-7);
    float sine, cosine;
    block_sine_cosine(6.283185307179586f * unit, sine, cosine);
    EXPECT_NEAR(sine, std::sin(6.283185307179586f * unit), 2e-7);
    EXPECT_NEAR(cosine, std::cos(6.283185307179586f * unit), 2e-7);
  }
}

// Eight blocks are transformed together, the rest one by one.
TEST(BlockNormals, DoNotDependOnHowManyBlocksThereAre) {
  std::vector<float> all(21 * kNormalBlock);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<float>(i * 2654435761u & 0xFFFFFFu) * 0x1p-24f;
  }
  std::vector<float> single = all;
  normals_from_units(all, 0.25f, 3.0f);
  for (std::size_t i = 0; i < single.size(); i += kNormalBlock) {
    normals_from_units(std::span(single).subspan(i, kNormalBlock), 0.25f, 3.0f);
  }
  EXPECT_EQ(hex_of(all), hex_of(single));
}

// -0 is what the radius of u = 1 gives; an addition of mean 0 leaves no negative zero.
TEST(BlockNormals, ARadiusOfZeroIsPlusZero) {
  std::vector<float> slots(kNormalBlock, 0.0f);
  normals_from_units(slots, 0, 1);
  for (const float value : slots) EXPECT_FALSE(std::signbit(value));
}

TEST(Fused, RoundsOnceWhereAProductThenASumRoundTwice) {
  const float a = 1.0f + 0x1p-12f, b = a;
  EXPECT_EQ(fused(a, b, -1.0f), std::fma(a, b, -1.0f));
  volatile float product = a * b;
  EXPECT_NE(fused(a, b, -1.0f), product - 1.0f);
}

}  // namespace
}  // namespace volvelle
