#include "volvelle/studies/attention_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "studies/attention_operations.h"
#include "studies/attention_times.h"
#include "studies/study_tables.h"
#include "volvelle/base/error.h"
#include "volvelle/report/study_report.h"

namespace volvelle {
namespace {

using testing::cell;
using testing::fact;
using testing::has_table;
using ::testing::HasSubstr;
using testing::table;

// Counted by loops over every multiply-add.
TEST(AttentionCost, CountsTheMultiplyAddsOfALayer) {
  constexpr std::int64_t kBatch = 2, kTokens = 5, kWidth = 6, kHeads = 3;
  double projections = 0, attention = 0;
  for (std::int64_t b = 0; b < kBatch; ++b) {
    for (std::int64_t t = 0; t < kTokens; ++t) {
      for (int matrix = 0; matrix < 4; ++matrix) projections += 2.0 * kWidth * kWidth;
      for (std::int64_t h = 0; h < kHeads; ++h) {
        for (std::int64_t s = 0; s < kTokens; ++s) {
          attention += 2.0 * kWidth / kHeads;  // the score
          attention += 2.0 * kWidth / kHeads;  // the weighted value
        }
      }
    }
  }
  const AttentionOperations count = attention_operations(kBatch, kTokens, kWidth, kHeads);
  EXPECT_EQ(count.projections, projections);
  EXPECT_EQ(count.attention, attention);
}

TEST(AttentionCost, GivesTheDocumentsFigures) {
  const StudyResult result = study_attention_cost({.measure = false});
  EXPECT_NEAR(fact<double>(result, "projections"), 4.398e12, 5e8);
  EXPECT_NEAR(fact<double>(result, "attention"), 2.199e12, 5e8);
  EXPECT_EQ(fact<double>(result, "attention_skipping"), fact<double>(result, "attention") / 2);
  EXPECT_EQ(fact<double>(result, "score_gib"), 8);
  EXPECT_EQ(fact<std::int64_t>(result, "equal_tokens"), 8192);
  const double projections[] = {1.374e11, 5.498e11, 1.100e12, 2.199e12, 8.796e12};
  const double attention[] = {1.718e10, 2.749e11, 1.100e12, 4.398e12, 7.037e13};
  const double ratios[] = {0.12, 0.5, 1, 2, 8};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(cell<double>(table(result, "rows"), i, "projections") / projections[i], 1, 5e-4);
    EXPECT_NEAR(cell<double>(table(result, "rows"), i, "attention") / attention[i], 1, 5e-4);
    EXPECT_NEAR(cell<double>(table(result, "rows"), i, "ratio"), ratios[i], 5e-3 + 1e-9);
  }
  EXPECT_FALSE(has_table(result, "measured"));
  const std::string text = study_text(result);
  for (const char* figure : {"1.374e+11", "1.718e+10", "1.100e+12", "7.037e+13", "0.12", "8.00"}) {
    EXPECT_THAT(text, HasSubstr(figure));
  }
  EXPECT_THAT(text, HasSubstr("would halve"));
  ASSERT_EQ(result.controls.size(), 1u);
  EXPECT_TRUE(result.controls[0].failed);
}

TEST(AttentionCost, MeasuresTimesMemoryAndTiles) {
  const StudyResult result = study_attention_cost(
      {.measured_width = 32, .measured_heads = 2, .measured_tokens = {64, 256}, .seconds = 0.001});
  EXPECT_TRUE(result.complete);
  const StudyTable& times = table(result, "measured");
  ASSERT_EQ(times.rows.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    for (const char* key : {"projections_ms", "attention_ms", "causal_ms", "turned_ms"}) {
      EXPECT_GT(cell<double>(times, i, key), 0) << key;
      EXPECT_LT(cell<double>(times, i, key), 1e4) << key;
    }
  }
  EXPECT_EQ(cell<double>(table(result, "memory"), 1, "naive_mib"), 0.5);
  const StudyTable& tiles = table(result, "tiles");
  ASSERT_EQ(tiles.rows.size(), 6u);
  for (std::size_t i = 1; i < 6; ++i) {
    EXPECT_GE(cell<std::int64_t>(tiles, i, "live"), cell<std::int64_t>(tiles, i - 1, "live"));
  }
  EXPECT_EQ(cell<std::int64_t>(tiles, 5, "live"), cell<std::int64_t>(tiles, 5, "all"));
  EXPECT_LT(cell<std::int64_t>(tiles, 4, "live"), cell<std::int64_t>(tiles, 4, "all"));
  std::istringstream lines(study_text(result));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_EQ(study_svg(result).find("nan"), std::string::npos);
}

TEST(AttentionCost, FindsWhereTwoCostsMeet) {
  EXPECT_NEAR(crossing({100, 400}, {1, 16}, {2, 8}), 200, 1e-9);  // t^2 and t, equal at 200
  EXPECT_EQ(crossing({100, 400}, {1, 2}, {2, 8}), 0);
  EXPECT_EQ(crossing({100, 400}, {3, 16}, {2, 8}), 0);  // above from the start
}

TEST(AttentionCost, StopsBetweenTimes) {
  int asked = 0;
  const StudyResult result = study_attention_cost(
      {.measured_width = 16, .measured_heads = 1, .measured_tokens = {16, 32}, .seconds = 0.001},
      {.stopped = [&] { return ++asked > 2; }});
  EXPECT_FALSE(result.complete);
  EXPECT_FALSE(has_table(result, "measured"));
  EXPECT_EQ(table(result, "rows").rows.size(), 5u);
}

void expect_refused(const AttentionCostOptions& options, const std::string& says) {
  try {
    study_attention_cost(options);
    FAIL() << "not refused: " << says;
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr(says));
  }
}

TEST(AttentionCost, RefusesWhatIsNoLayer) {
  expect_refused({.batch = 0}, "batch must be 1 to");
  expect_refused({.heads = 3}, "width 4096 is not a multiple of 3 heads");
  expect_refused({.bytes = 17}, "bytes must be 1 to 16, not 17");
  expect_refused({.ladder = {}}, "ladder takes 1 to 64 lengths, not 0");
  expect_refused({.ladder = {8, 8}}, "ladder has 8 twice");
  expect_refused({.measured_width = 30, .measured_heads = 4}, "measured width 30");
  expect_refused({.measured_width = 12, .measured_heads = 4}, "width 3 are odd");
  expect_refused({.measured_tokens = {1 << 20}}, "measured tokens must be 1 to 131,072");
  expect_refused({.seconds = 0}, "above 0 and at most 60");
}

}  // namespace
}  // namespace volvelle
