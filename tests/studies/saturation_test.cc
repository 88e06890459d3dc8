#include "volvelle/studies/saturation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "base/random_numbers.h"
#include "studies/softmax_rows.h"
#include "volvelle/attention/steps.h"
#include "volvelle/base/error.h"
#include "volvelle/report/study_report.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;

// Rows by width and divisor, as column key to number.
std::map<std::string, double> row(const StudyResult& result, std::int64_t width,
                                  const std::string& divisor) {
  const StudyTable& table = result.tables[0];
  for (const auto& cells : table.rows) {
    if (std::get<std::int64_t>(cells[0]) != width) continue;
    if (std::get<std::string>(cells[1]) != divisor) continue;
    std::map<std::string, double> numbers;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (const double* number = std::get_if<double>(&cells[c])) {
        numbers[table.columns[c].key] = *number;
      }
    }
    return numbers;
  }
  ADD_FAILURE() << "no row " << width << ' ' << divisor;
  return {};
}

TEST(Saturation, UnscaledScoresSaturateAndScaledOnesDoNot) {
  const StudyResult result = study_saturation();
  auto at = [&](std::int64_t width, const char* divisor, const char* key) {
    return row(result, width, divisor)[key];
  };
  EXPECT_LT(at(2, "none", "largest_weight"), 2 * at(2, "root_of_width", "largest_weight"));
  EXPECT_GT(at(64, "none", "largest_weight"), 0.7);
  EXPECT_GT(at(512, "none", "largest_weight"), 0.85);
  EXPECT_LT(at(512, "none", "gradient"), 0.1 * at(512, "root_of_width", "gradient"));
  for (const std::int64_t width : {2, 8, 64, 512}) {
    EXPECT_NEAR(at(width, "root_of_width", "score_spread"), 1, 0.15) << width;
    EXPECT_NEAR(at(width, "root_of_width", "entropy_share"), 0.88, 0.04) << width;
    EXPECT_NEAR(at(width, "none", "score_spread"), std::sqrt(static_cast<double>(width)),
                0.15 * std::sqrt(static_cast<double>(width)));
  }
  // The width itself flattens; the root of the tokens fits one width only.
  EXPECT_GT(at(512, "width", "entropy_share"), 0.999);
  EXPECT_LT(at(512, "width", "query_gradient"), 0.05 * at(512, "root_of_width", "query_gradient"));
  EXPECT_GT(at(2, "root_of_tokens", "entropy_share"), 0.98);
  EXPECT_LT(at(512, "root_of_tokens", "entropy_share"), 0.5);
  EXPECT_THAT(result.reading[0], HasSubstr("from width 64 on"));
}

TEST(Saturation, WidthWithoutSpreadFailsTheCheck) {
  const StudyResult result = study_saturation();
  ASSERT_EQ(result.controls.size(), 1u);
  EXPECT_TRUE(result.controls[0].failed);
  EXPECT_THAT(result.controls[0].what, HasSubstr("Width 512 again"));
}

TEST(Saturation, NarrowWidthsAreSaidNotToSaturate) {
  const StudyResult result = study_saturation({.head_widths = {2}});
  EXPECT_THAT(result.reading[0], HasSubstr("at none of these widths"));
  EXPECT_TRUE(result.controls[0].failed);
}

// The figures of rows against the softmax of real attention, and gradients against differences.
TEST(Saturation, FiguresAreThoseOfAttentionAndItsDerivative) {
  constexpr std::int64_t kTokens = 6, kWidth = 5;
  RandomNumbers random(3);
  std::vector<double> q(kTokens * kWidth), k(kTokens * kWidth);
  for (auto* array : {&q, &k}) {
    for (double& x : *array) x = random.normal();
  }
  ScoreRows rows{kTokens, kWidth, std::vector<double>(kTokens * kTokens), k};
  for (std::size_t i = 0; i < kTokens; ++i) {
    for (std::size_t j = 0; j < kTokens; ++j) {
      for (std::size_t d = 0; d < kWidth; ++d) {
        rows.scores[i * kTokens + j] += q[i * kWidth + d] * k[j * kWidth + d];
      }
    }
  }
  const double scale = 0.7;
  const SoftmaxFigures figures = softmax_figures(rows, scale);
  const Shape shape{kTokens, kWidth};
  const AttentionSteps steps = attention_steps(
      {.q = {q.data(), shape}, .k = {k.data(), shape}, .v = {k.data(), shape}, .scale = scale});
  const double* weights = steps.weights.data<double>();
  double entropy = 0, largest = 0;
  for (std::size_t i = 0; i < kTokens; ++i) {
    double most = 0;
    for (std::size_t j = 0; j < kTokens; ++j) {
      const double w = weights[i * kTokens + j];
      entropy -= w * std::log(w) / kTokens;
      most = std::max(most, w);
    }
    largest += most / kTokens;
  }
  EXPECT_NEAR(figures.entropy, entropy, 1e-12);
  EXPECT_NEAR(figures.largest, largest, 1e-12);

  // One query alone: its Jacobian by differences, down to the scores and to the query.
  ScoreRows one{kTokens, kWidth, {}, k};
  const auto softmax_of = [&](const std::vector<double>& scores) {
    std::vector<double> w(kTokens);
    double sum = 0;
    for (std::size_t j = 0; j < kTokens; ++j) sum += w[j] = std::exp(scores[j] * scale);
    for (double& x : w) x /= sum;
    return w;
  };
  one.scores.assign(rows.scores.begin(), rows.scores.begin() + kTokens);
  const double h = 1e-6;
  double to_scores = 0, to_query = 0;
  for (std::size_t j = 0; j < kTokens; ++j) {
    std::vector<double> up = one.scores, down = one.scores;
    up[j] += h / scale;  // the scaled score moves by h
    down[j] -= h / scale;
    const auto high = softmax_of(up), low = softmax_of(down);
    for (std::size_t i = 0; i < kTokens; ++i)
      to_scores += std::pow((high[i] - low[i]) / (2 * h), 2);
  }
  for (std::size_t d = 0; d < kWidth; ++d) {
    std::vector<double> up = one.scores, down = one.scores;
    for (std::size_t j = 0; j < kTokens; ++j) {
      up[j] += h * k[j * kWidth + d];
      down[j] -= h * k[j * kWidth + d];
    }
    const auto high = softmax_of(up), low = softmax_of(down);
    for (std::size_t i = 0; i < kTokens; ++i) to_query += std::pow((high[i] - low[i]) / (2 * h), 2);
  }
  // A row's figures: with one row asked, its medians are its own.
  ScoreRows repeated = one;
  repeated.scores.clear();
  for (int i = 0; i < kTokens; ++i) {
    repeated.scores.insert(repeated.scores.end(), one.scores.begin(), one.scores.end());
  }
  const SoftmaxFigures row_figures = softmax_figures(repeated, scale);
  EXPECT_NEAR(row_figures.gradient, std::sqrt(to_scores), 1e-8);
  EXPECT_NEAR(row_figures.query_gradient, std::sqrt(to_query), 1e-8);
}

TEST(Saturation, AnyNumberOfThreadsGivesTheSameBits) {
  const auto json = [](int threads) {
    std::ostringstream out;
    write_study_json(out, study_saturation({.head_widths = {3, 20}, .tokens = 7, .draws = 70},
                                           {.threads = threads}));
    return out.str();
  };
  const std::string one = json(1);
  EXPECT_EQ(json(2), one);
  EXPECT_EQ(json(8), one);
}

TEST(Saturation, AWidthsFiguresDoNotDependOnTheOthers) {
  const auto alone = row(study_saturation({.head_widths = {8}}), 8, "none");
  const auto among = row(study_saturation({.head_widths = {64, 8}}), 8, "none");
  EXPECT_EQ(alone, among);
  const auto other = row(study_saturation({.head_widths = {8}, .seed = 1}), 8, "none");
  EXPECT_NE(alone, other);
}

TEST(Saturation, StopsBetweenDrawsWithWhatThereIs) {
  int asked = 0;
  const StudyResult result = study_saturation({.head_widths = {4, 8}, .draws = 100},
                                              {.stopped = [&] { return ++asked > 5; }});
  EXPECT_FALSE(result.complete);
  EXPECT_TRUE(result.controls.empty());
  ASSERT_EQ(result.tables[0].rows.size(), 8u);  // 100 draws of the first, 32 of the second
  EXPECT_EQ(std::get<std::int64_t>(result.tables[0].rows[0].back()), 100);
  EXPECT_EQ(std::get<std::int64_t>(result.tables[0].rows[7].back()), 32);
  const StudyResult nothing = study_saturation({}, {.stopped = [] { return true; }});
  EXPECT_THAT(study_text(nothing), HasSubstr("nothing was measured"));
}

void expect_refused(const SaturationOptions& options, const std::string& says) {
  try {
    study_saturation(options);
    FAIL() << "not refused: " << says;
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr(says));
  }
}

TEST(Saturation, RefusesWhatCannotBeMeasured) {
  expect_refused({.head_widths = {}}, "not 0");
  expect_refused({.head_widths = std::vector<std::int64_t>(33, 1)}, "not 33");
  expect_refused({.head_widths = {0}}, "at least 1, not 0");
  expect_refused({.head_widths = {4, 4}}, "given twice");
  expect_refused({.tokens = 1}, "tokens must be at least 2");
  expect_refused({.draws = 0}, "draws must be 1 to");
  expect_refused({.head_widths = {1 << 24}}, "take fewer tokens");
  expect_refused({.tokens = std::int64_t{1} << 40}, "take fewer tokens");
}

}  // namespace
}  // namespace volvelle
