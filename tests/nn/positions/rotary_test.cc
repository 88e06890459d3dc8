#include "volvelle/nn/positions/rotary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "nn/positions/growing_tables.h"
#include "support/refusal.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;
using testing::refusal;

constexpr PositionContext kModel{.width = 16, .heads = 2};

RotaryTables entered(const PositionScheme& scheme, const AttentionPlaces& places) {
  AttendVariableOptions options;
  scheme.enter(options, places);
  return options.rotary;
}

float at(const Tensor& table, std::int64_t row, std::int64_t column) {
  return table.data<float>()[row * table.shape()[table.rank() - 1] + column];
}

TEST(Rotary, TablesAreByAbsolutePositionFromAnglesInDouble) {
  const auto scheme = make_positions("rotary", kModel);
  const RotaryTables tables = entered(*scheme, {.positions = 30000});
  ASSERT_EQ(tables.cosines.rank(), 2);
  ASSERT_GE(tables.cosines.shape()[0], 30000);
  EXPECT_EQ(tables.cosines.shape()[1], 4);
  EXPECT_FALSE(tables.key_cosines);
  EXPECT_EQ(tables.pairing, RotaryPairing::split_half);
  for (const std::int64_t p : {0, 1, 7, 257, 20000, 29999}) {
    for (std::int64_t i = 0; i < 4; ++i) {
      const double angle = static_cast<double>(p) * std::pow(10000.0, -static_cast<double>(i) / 4);
      EXPECT_EQ(at(tables.cosines, p, i), static_cast<float>(std::cos(angle)));
      EXPECT_EQ(at(tables.sines, p, i), static_cast<float>(std::sin(angle)));
    }
  }
}

TEST(Rotary, LongerTablesHoldTheSameRowsAndLayersShareThem) {
  const auto first = make_positions("rotary(base=123)", kModel);
  const auto second = make_positions("rotary(base=123, pairing=interleaved)", kModel);
  const RotaryTables few = entered(*first, {.positions = 1});
  const RotaryTables more = entered(*first, {.positions = 1000});
  EXPECT_EQ(std::memcmp(few.cosines.raw(), more.cosines.raw(), few.cosines.bytes()), 0);
  EXPECT_EQ(std::memcmp(few.sines.raw(), more.sines.raw(), few.sines.bytes()), 0);
  // Asking again makes nothing anew, whoever asks, and for whatever length.
  const RotaryTables again = entered(*second, {.positions = 8});
  EXPECT_EQ(again.cosines.raw(), more.cosines.raw());
  EXPECT_EQ(again.pairing, RotaryPairing::interleaved);
  const auto other = make_positions("rotary(base=124)", kModel);
  EXPECT_NE(entered(*other, {.positions = 8}).cosines.raw(), more.cosines.raw());
}

// One far position must not make the rows of all before it.
TEST(Rotary, FarPositionsAreRefusedAtOnce) {
  for (const char* text : {"rotary", "rotary(scaling=dynamic, factor=2, original=8)"}) {
    const auto scheme = make_positions(text, kModel);
    const std::int64_t reached[] = {4, 1000000001};
    const std::string words = refusal(
        [&] { entered(*scheme, {.positions = 1000000001, .row_lengths = View(reached, {2})}); });
    EXPECT_THAT(words, HasSubstr("[rotary] position 1000000000 is beyond the last, 16777215"));
    EXPECT_THAT(words, HasSubstr("from 0 on"));
    EXPECT_GE(entered(*scheme, {.positions = 100}).cosines.shape()[0], 100);
  }
}

TEST(Rotary, TablesBeyondTheMachinesMemoryAreNoParameters) {
  GrowingTables tables("rotary", 2, std::int64_t{1} << 50, [](std::int64_t, float* const*) {});
  const std::string words = refusal([&] { tables.at_least(1); });
  EXPECT_THAT(words, HasSubstr("[rotary] 1.441e+17 numbers of position tables of float32 need"));
}

TEST(Rotary, TablesGrowUnderSeveralThreads) {
  const auto scheme = make_positions("rotary(base=77)", kModel);
  std::vector<RotaryTables> found(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&, i] {
      for (std::int64_t round = 1; round <= 6; ++round) {
        found[i] = entered(*scheme, {.positions = static_cast<std::int64_t>(i + 1) * 40 * round});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const RotaryTables& tables : found) {
    const float cosine = static_cast<float>(std::cos(200 * std::pow(77.0, -0.25)));
    EXPECT_EQ(at(tables.cosines, 200, 1), cosine);
  }
}

TEST(Rotary, AttentionFactorIsOnCosinesAndSines) {
  const auto scheme =
      make_positions("rotary(scaling=yarn, factor=4, original=64, attention=2)", kModel);
  const RotaryTables tables = entered(*scheme, {.positions = 4});
  EXPECT_EQ(at(tables.cosines, 0, 3), 2);
  EXPECT_EQ(at(tables.sines, 3, 0), static_cast<float>(2 * std::sin(3.0)));
}

TEST(Rotary, DynamicTurnsByTheLengthOfEachRow) {
  const auto scheme = make_positions("rotary(scaling=dynamic, factor=2, original=8)", kModel);
  const RotaryOptions options =
      rotary_options(parse_positions("rotary(scaling=dynamic, factor=2, original=8)"));
  const auto cosine = [&](std::int64_t length, int position, std::size_t pair) {
    const double frequency = rotary_frequencies(options, 8, length).frequencies[pair];
    return static_cast<float>(std::cos(position * frequency));
  };
  const std::int64_t lengths[] = {5, 12, 16};
  const RotaryTables tables =
      entered(*scheme, {.positions = 16, .row_lengths = View(lengths, {3})});
  ASSERT_EQ(tables.cosines.shape(), (Shape{3, 16, 4}));
  for (std::int64_t row = 0; row < 3; ++row) {
    EXPECT_EQ(at(tables.cosines, row * 16 + 4, 3), cosine(lengths[row], 4, 3));
  }
  // Rows of one kind need one table. Short texts after a long one find the old base.
  const std::int64_t short_ones[] = {5, 8, 1};
  const RotaryTables small =
      entered(*scheme, {.positions = 8, .row_lengths = View(short_ones, {3})});
  EXPECT_EQ(small.cosines.rank(), 2);
  EXPECT_EQ(at(small.cosines, 4, 3), cosine(8, 4, 3));
  const RotaryTables without = entered(*scheme, {.positions = 12});
  EXPECT_EQ(without.cosines.rank(), 2);
  EXPECT_EQ(at(without.cosines, 4, 3), cosine(12, 4, 3));
  EXPECT_NE(cosine(12, 4, 3), cosine(8, 4, 3));
}

TEST(Rotary, LongropeHasOneListUpToTheOriginalLengthAndAnotherBeyond) {
  const auto scheme = make_positions(
      "rotary(scaling=longrope, original=8, factor=4, short=[1, 1, 1, 1], long=[4, 4, 4, 4])",
      kModel);
  const std::int64_t lengths[] = {8, 9};
  const RotaryTables tables = entered(*scheme, {.positions = 9, .row_lengths = View(lengths, {2})});
  const double factor = std::sqrt(1 + std::log(4.0) / std::log(8.0));
  EXPECT_EQ(at(tables.sines, 3, 0), static_cast<float>(factor * std::sin(3.0)));
  EXPECT_EQ(at(tables.sines, 9 + 3, 0), static_cast<float>(factor * std::sin(0.75)));
  // All layers of a model ask for the same lengths in turn.
  const RotaryTables again = entered(*scheme, {.positions = 9, .row_lengths = View(lengths, {2})});
  EXPECT_EQ(again.sines.raw(), tables.sines.raw());
}

TEST(Rotary, FactsSayWhatACacheHolds) {
  const PositionFacts plain = make_positions("rotary", kModel)->facts();
  EXPECT_TRUE(plain.keys_cached_turned);
  EXPECT_FALSE(plain.steady_positions);
  for (const char* text : {"rotary(scaling=dynamic, factor=2, original=8)",
                           "rotary(scaling=longrope, original=8, factor=4, short=[1, 1, 1, 1], "
                           "long=[4, 4, 4, 4])"}) {
    const PositionFacts facts = make_positions(text, kModel)->facts();
    EXPECT_FALSE(facts.keys_cached_turned);
    EXPECT_EQ(facts.steady_positions, 8);
    EXPECT_THAT(facts.cache, HasSubstr("as projected"));
  }
  EXPECT_THAT(make_positions("rotary(partial=0.5)", kModel)->facts().cost, HasSubstr("8 mult"));
}

TEST(Rotary, RefusesPositionsThatNoMemoryHolds) {
  const auto scheme = make_positions("rotary", kModel);
  EXPECT_THAT(refusal([&] { entered(*scheme, {.positions = std::int64_t{1} << 50}); }),
              HasSubstr("[rotary] position 1125899906842623 is beyond the last"));
  EXPECT_THAT(refusal([&] {
                const std::int64_t negative[] = {-1};
                entered(*make_positions("rotary(scaling=dynamic, factor=2, original=8)", kModel),
                        {.positions = 4, .row_lengths = View(negative, {1})});
              }),
              HasSubstr("[rotary] position -1"));
}

}  // namespace
}  // namespace volvelle
