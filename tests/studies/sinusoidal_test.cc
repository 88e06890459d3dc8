#include "volvelle/studies/sinusoidal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <sstream>

#include "studies/frequency_ladders.h"
#include "studies/sinusoid_checks.h"
#include "studies/sinusoid_variants.h"
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
  static const StudyResult kResult = study_sinusoidal();
  return kResult;
}

TEST(Sinusoidal, GivesTheDocumentsFigures) {
  const StudyResult& result = standard();
  EXPECT_EQ(fact<std::vector<double>>(result, "shape"), (std::vector<double>{50, 16}));
  for (const char* key : {"matches_loop", "equal_lengths", "within_unit", "shift_is_rotation",
                          "concatenated_is_permuted"}) {
    EXPECT_TRUE(fact<bool>(result, key)) << key;
  }
  const double row_1[] = {0.8415, 0.5403, 0.311, 0.9504, 0.0998, 0.995};
  const std::vector<double>& first = numbers(table(result, "first_rows"), 0, "row");
  ASSERT_EQ(first.size(), 16u);
  for (std::size_t c = 0; c < 16; ++c) EXPECT_EQ(first[c], c % 2 == 0 ? 0 : 1);
  for (std::size_t c = 0; c < 6; ++c) {
    EXPECT_NEAR(numbers(table(result, "first_rows"), 1, "begins")[c], row_1[c], 5e-5);
  }
  const double waves[] = {6.3, 19.9, 62.8, 198.7, 628.3, 1986.9, 6283.2, 19869.2};
  const auto measured = fact<std::vector<double>>(result, "wavelengths");
  ASSERT_EQ(measured.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(measured[i], waves[i], 0.05);
  const auto turned = fact<std::vector<double>>(result, "pair_turned");
  const auto shifted = fact<std::vector<double>>(result, "pair_shifted");
  for (const auto& pair : {turned, shifted}) {
    EXPECT_NEAR(pair[0], -0.2794, 5e-5);
    EXPECT_NEAR(pair[1], 0.9602, 5e-5);
  }
  EXPECT_EQ(fact<std::int64_t>(result, "distinct_rows"), 5000);
  EXPECT_EQ(fact<std::int64_t>(result, "parameters"), 0);
  EXPECT_LT(fact<double>(result, "far_difference"), 1e-6);
}

// What each mistake breaks, and what it leaves whole.
TEST(Sinusoidal, EveryMistakeFailsTheChecksThatCanSeeIt) {
  const StudyTable& variants = table(standard(), "variants");
  ASSERT_EQ(variants.rows.size(), std::size_t{kTableVariants});
  const auto passes = [&](TableVariant kind, const char* check) {
    return cell<bool>(variants, kind, check);
  };
  for (const char* check : {"matches_loop", "matches_wavelengths", "equal_lengths", "within_unit",
                            "shift_is_rotation"}) {
    EXPECT_TRUE(passes(kByScheme, check)) << check;
  }
  EXPECT_FALSE(passes(kHalfExponent, "matches_loop"));
  EXPECT_FALSE(passes(kHalfExponent, "matches_wavelengths"));
  EXPECT_TRUE(passes(kHalfExponent, "equal_lengths"));
  const auto distinct = [&](TableVariant kind) {
    return cell<std::int64_t>(variants, kind, "distinct_rows");
  };
  EXPECT_EQ(distinct(kHalfExponent), 5000);
  EXPECT_EQ(distinct(kHalfPositions), 3299);
  EXPECT_EQ(distinct(kBrainPositions), 797);
  EXPECT_EQ(distinct(kHalfAngles), 5000);
  EXPECT_EQ(distinct(kHalfTable), 5000);
  EXPECT_FALSE(passes(kHalfTable, "equal_lengths"));
  ASSERT_EQ(standard().controls.size(), 2u);
  for (const StudyControl& control : standard().controls) EXPECT_TRUE(control.failed);
  EXPECT_THAT(standard().controls[1].figures, HasSubstr("3,299 of 5,000"));
}

// The control has positions that float16 lacks, however few rows are asked for.
TEST(Sinusoidal, ControlsFailAtOtherSizesToo) {
  for (const std::int64_t width : {4, 6, 128}) {
    const StudyResult result = study_sinusoidal(
        {.length = 9, .width = width, .shift = 1, .rows = 40, .row_width = width, .base = 500});
    for (const StudyControl& control : result.controls) EXPECT_TRUE(control.failed) << width;
    EXPECT_TRUE(fact<bool>(result, "matches_loop"));
    std::istringstream lines(study_text(result));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST(Sinusoidal, ALinearLadderNeedsManyMorePairs) {
  const FrequencyLadder geometric = geometric_ladder(16, 10000);
  const FrequencyLadder linear = linear_ladder(16, 10000);
  EXPECT_DOUBLE_EQ(geometric.rates.front(), linear.rates.front());
  EXPECT_DOUBLE_EQ(geometric.rates.back(), linear.rates.back());
  // Rows of the table themselves lie as far apart as the sum over the rates says.
  const PositionRows rows = literal_sinusoids(60, 16, 10000);
  double squares = 0;
  for (std::int64_t c = 0; c < 16; ++c) squares += std::pow(rows.at(51, c) - rows.at(7, c), 2);
  EXPECT_NEAR(distance_at(geometric, 44), std::sqrt(squares), 1e-12);
  EXPECT_GT(closest_rows(geometric, 4999).distance, 20 * closest_rows(linear, 4999).distance);
  EXPECT_EQ(closest_rows(linear, 4999).offset, 44);
  // By counting steps: the ladder from 1 down in the steps of the two slowest.
  std::int64_t count = 1;
  const double step = geometric.rates[6] - geometric.rates[7];
  for (double rate = 1; rate > geometric.rates[7] + 1e-12; rate -= step) ++count;
  EXPECT_EQ(linear_pairs_for_two_slowest(16, 10000), count);
}

TEST(Sinusoidal, TheFactorMakesSmallEmbeddingsLongerThanTheirRows) {
  const StudyTable& scales = table(standard(), "embeddings");
  EXPECT_NEAR(cell<double>(scales, 0, "token_length"), 1, 0.02);
  EXPECT_NEAR(cell<double>(scales, 1, "token_length"), 8, 0.1);
  EXPECT_NEAR(cell<double>(scales, 0, "row_length"), std::sqrt(32), 1e-12);
}

TEST(Sinusoidal, StandsOnThePageWithItsLimits) {
  const std::string text = study_text(standard());
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_THAT(text, HasSubstr("whether a trained model uses it"));
  EXPECT_EQ(study_svg(standard()).find("nan"), std::string::npos);
}

TEST(Sinusoidal, StopsBetweenVariants) {
  int asked = 0;
  const StudyResult result = study_sinusoidal({}, {.stopped = [&] { return ++asked > 2; }});
  EXPECT_FALSE(result.complete);
  EXPECT_TRUE(result.controls.empty());
  EXPECT_FALSE(study_text(result).empty());
}

void expect_refused(const SinusoidalStudyOptions& options, const std::string& says) {
  try {
    study_sinusoidal(options);
    FAIL() << "not refused: " << says;
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr(says));
  }
}

TEST(Sinusoidal, RefusesWhatIsNoTable) {
  expect_refused({.width = 15}, "width 15 is odd");
  expect_refused({.width = 15}, "take 16, or pad one column");
  expect_refused({.width = 2}, "width must be 4 to 4,096, not 2");
  expect_refused({.row_width = 7}, "row-width 7 is odd");
  expect_refused({.length = 2}, "length must be 3 to");
  expect_refused({.rows = std::int64_t{1} << 40}, "rows must be 3 to");
  expect_refused({.shift = 0}, "shift must be 1 to length - 2 = 48, not 0");
  expect_refused({.shift = 49}, "not 49");
  expect_refused({.base = 1}, "base must be above 1, not 1");
  expect_refused({.base = std::nan("")}, "base must be above 1");
}

}  // namespace
}  // namespace volvelle
