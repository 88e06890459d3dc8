#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "nn/positions/growing_tables.h"
#include "support/refusal.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;
using testing::refusal;

constexpr PositionContext kModel{.width = 16, .heads = 2};

AttendVariableOptions entered(const char* text, std::int64_t positions) {
  AttendVariableOptions options;
  make_positions(text, kModel)->enter(options, {.positions = positions});
  return options;
}

TEST(Xpos, ShrinksQueriesAndGrowsKeysByTheirPositions) {
  const RotaryTables tables = entered("xpos(scale=16)", 60).rotary;
  for (std::int64_t i = 0; i < 4; ++i) {
    const double zeta = (2.0 * static_cast<double>(i) / 8 + 0.4) / 1.4;
    for (const std::int64_t n : {0, 5, 59}) {
      const auto place = static_cast<double>(n);
      const double angle = place * std::pow(10000.0, -static_cast<double>(i) / 4);
      const double decay = std::pow(zeta, place / 16);
      const std::int64_t cell = n * 4 + i;
      EXPECT_NEAR(tables.cosines.data<float>()[cell], decay * std::cos(angle), 1e-6);
      EXPECT_NEAR(tables.sines.data<float>()[cell], decay * std::sin(angle), 1e-6);
      EXPECT_NEAR(tables.key_cosines.data<float>()[cell] * decay, std::cos(angle), 1e-6);
      EXPECT_NEAR(tables.key_sines.data<float>()[cell] * decay, std::sin(angle), 1e-6);
    }
  }
}

// cos(a) cos(b) + sin(a) sin(b), which a product of turned pairs is made of.
double product(const RotaryTables& tables, std::int64_t query, std::int64_t key, std::int64_t i) {
  const double cosines = static_cast<double>(tables.cosines.data<float>()[query * 4 + i]) *
                         static_cast<double>(tables.key_cosines.data<float>()[key * 4 + i]);
  return cosines + static_cast<double>(tables.sines.data<float>()[query * 4 + i]) *
                       static_cast<double>(tables.key_sines.data<float>()[key * 4 + i]);
}

TEST(Xpos, ProductsKnowTheDistanceOnlyAndFadeWithIt) {
  const RotaryTables tables = entered("xpos", 3000).rotary;
  for (std::int64_t i = 0; i < 4; ++i) {
    const double near = product(tables, 9, 4, i);
    EXPECT_NEAR(product(tables, 2905, 2900, i), near, 2e-6);
    EXPECT_GT(std::abs(product(tables, 9, 4, i) - product(tables, 9, 3, i)), 1e-6);
  }
  const double zeta = (0.75 + 0.4) / 1.4;  // the slowest pair hardly turns, and fades
  EXPECT_NEAR(product(tables, 600, 88, 3) / std::cos(0.512), zeta, 2e-6);
}

TEST(Xpos, EndsWhereKeysWouldLeaveFloat32) {
  const PositionFacts facts = make_positions("xpos", kModel)->facts();
  ASSERT_TRUE(facts.positions);
  EXPECT_EQ(*facts.positions, 32695);
  EXPECT_FALSE(facts.keys_cached_turned);
  const RotaryTables tables = entered("xpos", *facts.positions).rotary;
  for (std::int64_t i = 0; i < tables.key_cosines.size(); ++i) {
    ASSERT_TRUE(std::isfinite(tables.key_cosines.data<float>()[i]));
  }
  EXPECT_THAT(refusal([&] { entered("xpos", *facts.positions + 1); }),
              HasSubstr("[xpos] position 32695 is beyond the last, 32694"));
}

TEST(Xpos, EndsWithItsTablesWhereTheScaleReachesFurther) {
  EXPECT_EQ(make_positions("xpos(scale=1e9)", kModel)->facts().positions, kMostTablePositions);
  EXPECT_THAT(refusal([] { entered("xpos(scale=1e9)", kMostTablePositions + 1); }),
              HasSubstr("[xpos] position 16777216 is beyond the last, 16777215: a table"));
}

TEST(Xpos, AScaleThatLeavesNoPositionIsRefusedWhenMade) {
  for (const char* text : {"xpos(scale=1e-300)", "xpos(scale=0.0156)"}) {
    EXPECT_THAT(refusal([&] { make_positions(text, kModel); }),
                HasSubstr("xpos: scale must be at least 0.01566:"))
        << text;
  }
  EXPECT_EQ(make_positions("xpos(scale=0.0157)", kModel)->facts().positions, 1);
}

TEST(Xpos, TakesItsSettings) {
  EXPECT_EQ(entered("xpos(pairing=interleaved)", 1).rotary.pairing, RotaryPairing::interleaved);
  EXPECT_EQ(entered("xpos(partial=4)", 1).rotary.cosines.shape()[1], 2);
  EXPECT_THAT(refusal([] { entered("xpos(gamma=0)", 1); }), HasSubstr("gamma=0 must be above 0"));
  EXPECT_THAT(refusal([] { entered("xpos(scale=-1)", 1); }), HasSubstr("scale=-1 must be above 0"));
  EXPECT_THAT(refusal([] { entered("xpos(factor=2)", 1); }), HasSubstr("no setting 'factor'"));
}

}  // namespace
}  // namespace volvelle
