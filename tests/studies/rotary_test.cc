#include "volvelle/studies/rotary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "studies/rotary_by_hand.h"
#include "studies/rotary_loop.h"
#include "studies/study_tables.h"
#include "volvelle/base/error.h"
#include "volvelle/report/study_report.h"

namespace volvelle {
namespace {

using testing::cell;
using testing::fact;
using ::testing::HasSubstr;
using testing::numbers;
using testing::table;

const StudyResult& standard() {
  static const StudyResult kResult = study_rotary();
  return kResult;
}

TEST(RotaryStudy, GivesTheDocumentsFigures) {
  const StudyResult& result = standard();
  EXPECT_NEAR(fact<double>(result, "score_5_2"), -0.89952466, 1e-6);
  EXPECT_NEAR(fact<double>(result, "score_12_9"), -0.89952466, 1e-6);
  EXPECT_NEAR(fact<double>(result, "score_5_3"), -1.85074530, 1e-6);
  EXPECT_LT(fact<double>(result, "score_spread"), 5e-6);
  for (const char* key : {"matches_attention", "equals_pairwise", "values_untouched",
                          "causal_with_mask", "three_ways_equal"}) {
    EXPECT_TRUE(fact<bool>(result, key)) << key;
  }
  EXPECT_FALSE(fact<bool>(result, "causal_without_mask"));
  EXPECT_EQ(fact<std::int64_t>(result, "parameters"), 4096);
  EXPECT_EQ(fact<std::int64_t>(result, "rotation_parameters"), 0);
  EXPECT_LT(fact<double>(result, "length_change"), 1e-5);
  EXPECT_LT(fact<double>(result, "converted_difference"), 1e-5);
  const double rates[] = {1, 0.1, 0.01, 0.001}, turns[] = {6.3, 62.8, 628.3, 6283.2};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(cell<double>(table(result, "rows"), i, "rate"), rates[i], 5e-5);
    EXPECT_NEAR(cell<double>(table(result, "rows"), i, "turn"), turns[i], 0.05);
  }
  EXPECT_EQ(numbers(table(result, "shapes"), 0, "shape"), (std::vector<double>{2, 12, 32}));
  EXPECT_EQ(numbers(table(result, "shapes"), 1, "shape"), (std::vector<double>{2, 4, 12, 8}));
  EXPECT_EQ(numbers(table(result, "shapes"), 2, "shape"), (std::vector<double>{2, 12, 32}));
}

TEST(RotaryStudy, TurnsSmallNumbersByHandThreeWays) {
  const StudyTable& hand = table(standard(), "by_hand");
  const std::vector<std::vector<double>> wanted{{0, 1},
                                                {-2, 1},
                                                {2.2361, 2.2361},
                                                {-3, -4, 1, 2},
                                                {-3, -1.4142, 1, 4.2426},
                                                {-3, -1.4142, 1, 4.2426},
                                                {-3, -1.4142, 1, 4.2426}};
  ASSERT_EQ(hand.rows.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::vector<double>& row = numbers(hand, i, "numbers");
    ASSERT_EQ(row.size(), wanted[i].size());
    for (std::size_t c = 0; c < row.size(); ++c) EXPECT_NEAR(row[c], wanted[i][c], 5e-5) << i;
  }
}

TEST(RotaryStudy, EveryMistakeFailsTheChecksThatCanSeeIt) {
  const StudyTable& faults = table(standard(), "faults");
  struct Wanted {
    bool equal, shift, causal;
  };
  const std::map<std::string, Wanted> wanted{
      {"none", {true, true, true}},
      {"no_mask", {false, true, false}},
      {"mask_after_softmax", {false, true, false}},
      {"diagonal_masked", {false, true, true}},
      {"values_turned", {false, false, true}},
      {"rates_of_width", {false, true, true}},
      {"pairing_swapped", {false, true, true}},
      {"turned_before_split", {false, false, true}},
  };
  ASSERT_EQ(faults.rows.size(), wanted.size());
  for (std::size_t i = 0; i < faults.rows.size(); ++i) {
    const std::string& key = cell<std::string>(faults, i, "fault");
    ASSERT_TRUE(wanted.count(key)) << key;
    EXPECT_EQ(cell<bool>(faults, i, "equals_layer"), wanted.at(key).equal) << key;
    EXPECT_EQ(cell<bool>(faults, i, "by_offset"), wanted.at(key).shift) << key;
    EXPECT_EQ(cell<bool>(faults, i, "causal"), wanted.at(key).causal) << key;
  }
  ASSERT_EQ(standard().controls.size(), 4u);
  for (const StudyControl& control : standard().controls) EXPECT_TRUE(control.failed);
}

TEST(RotaryStudy, OtherSizesHoldAndStandOnThePage) {
  for (const auto& [width, heads] : {std::pair<std::int64_t, std::int64_t>{12, 3}, {64, 2}}) {
    const StudyResult result = study_rotary(
        {.width = width, .heads = heads, .tokens = 5, .batch = 1, .seed = 4, .base = 500});
    EXPECT_TRUE(fact<bool>(result, "matches_attention")) << width;
    EXPECT_TRUE(fact<bool>(result, "equals_pairwise")) << width;
    for (const StudyControl& control : result.controls) EXPECT_TRUE(control.failed) << width;
    std::istringstream lines(study_text(result));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
    EXPECT_EQ(study_svg(result).find("nan"), std::string::npos);
  }
}

TEST(RotaryStudy, AnyNumberOfThreadsGivesTheSameBits) {
  const auto json = [](int threads) {
    std::ostringstream out;
    write_study_json(out, study_rotary({}, {.threads = threads}));
    return out.str();
  };
  EXPECT_EQ(json(3), json(1));
}

TEST(RotaryStudy, StopsBetweenMistakes) {
  int asked = 0;
  const StudyResult result = study_rotary({}, {.stopped = [&] { return ++asked > 2; }});
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(table(result, "faults").rows.size(), 2u);
  EXPECT_FALSE(study_text(result).empty());
}

void expect_refused(const RotaryStudyOptions& options, const std::string& says) {
  try {
    study_rotary(options);
    FAIL() << "not refused: " << says;
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr(says));
  }
}

TEST(RotaryStudy, RefusesWhatDoesNotTurn) {
  expect_refused({.width = 30}, "width 30 is not a multiple of 4 heads");
  expect_refused({.width = 12}, "heads of width 3 are odd");
  expect_refused({.heads = 0}, "heads must be 1 to 256, not 0");
  expect_refused({.tokens = 3}, "tokens must be 4 to 256, not 3");
  expect_refused({.batch = 0}, "batch must be 1 to 64, not 0");
  expect_refused({.width = 1024}, "width must be 2 to 512, not 1024");
  expect_refused({.base = 1}, "base must be above 1");
}

}  // namespace
}  // namespace volvelle
