#include "volvelle/studies/positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "studies/offset_spread.h"
#include "studies/position_arms.h"
#include "studies/study_tables.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/positions/catalog.h"
#include "volvelle/report/study_report.h"

namespace volvelle {
namespace {

using testing::cell;
using testing::fact;
using ::testing::HasSubstr;
using testing::numbers;
using testing::table;

const StudyResult& standard() {
  static const StudyResult kResult = study_positions();
  return kResult;
}

TEST(PositionsStudy, GivesTheDocumentsFigures) {
  const StudyResult& result = standard();
  EXPECT_TRUE(fact<bool>(result, "equivariant_without_positions"));
  EXPECT_FALSE(fact<bool>(result, "equivariant_with_sinusoidal"));
  EXPECT_FALSE(fact<bool>(result, "equivariant_with_causal_mask"));
  const double rows[3][8] = {{0, 1, 0, 1, 0, 1, 0, 1},
                             {0.841, 0.54, 0.1, 0.995, 0.01, 1, 0.001, 1},
                             {0.909, -0.416, 0.199, 0.98, 0.02, 1, 0.002, 1}};
  for (std::size_t p = 0; p < 3; ++p) {
    for (std::size_t c = 0; c < 8; ++c) {
      EXPECT_NEAR(numbers(table(result, "first_rows"), p, "row")[c], rows[p][c], 5e-4);
    }
  }
  EXPECT_TRUE(fact<bool>(result, "shift_is_rotation"));
  EXPECT_NEAR(fact<std::vector<double>>(result, "pair_before")[1], -0.416, 5e-4);
  for (const char* key : {"pair_turned", "pair_shifted"}) {
    EXPECT_NEAR(fact<std::vector<double>>(result, key)[0], -0.959, 5e-4);
    EXPECT_NEAR(fact<std::vector<double>>(result, key)[1], 0.284, 5e-4);
  }
  EXPECT_LT(fact<double>(result, "spread_plain"), 5e-7);
  EXPECT_NEAR(fact<double>(result, "spread_projected"), 3.587933, 5e-6);
  EXPECT_GE(fact<double>(result, "plain_least"), -4);
  EXPECT_NEAR(fact<double>(result, "plain_largest"), 4, 1e-6);
  EXPECT_NEAR(fact<double>(result, "draws_least"), 0.96, 5e-3);
  EXPECT_NEAR(fact<double>(result, "draws_largest"), 8.57, 5e-3);
  EXPECT_EQ(table(result, "draws").rows.size(), 30u);
  EXPECT_EQ(fact<std::int64_t>(result, "learned_parameters"), 128);
  EXPECT_THAT(fact<std::string>(result, "learned_refusal"), HasSubstr("position 16"));
  EXPECT_THAT(fact<std::string>(result, "learned_refusal"), HasSubstr("table of 16 rows"));
  EXPECT_EQ(fact<std::vector<double>>(result, "bias_row_0"),
            (std::vector<double>{-0.5, 1, -1, -1, -1, -1}));
  EXPECT_EQ(fact<std::vector<double>>(result, "bias_row_3"),
            (std::vector<double>{0, 0, 0.5, -0.5, 1, -1}));
}

// Every scheme lets order in and does under a shift what it states.
TEST(PositionsStudy, EverySchemeIsWhatItSays) {
  const StudyTable& rows = table(standard(), "rows");
  ASSERT_EQ(rows.rows.size(), position_schemes().size() + 3);
  for (std::size_t i = 0; i < position_schemes().size(); ++i) {
    const std::string name = position_schemes()[i].name;
    EXPECT_EQ(cell<std::string>(rows, i, "scheme"), name);
    const bool none = name == "none";
    EXPECT_EQ(cell<bool>(rows, i, "equivariant"), none) << name;
    EXPECT_EQ(cell<bool>(rows, i, "weights_equivariant"), none) << name;
    EXPECT_EQ(cell<bool>(rows, i, "order_reaches"), !none) << name;
    EXPECT_EQ(cell<bool>(rows, i, "shift_changes_nothing"), cell<bool>(rows, i, "stated_relative"))
        << name;
  }
}

TEST(PositionsStudy, PositionsInTheWrongPlaceBreakWhatTheyAreFor) {
  const StudyTable& rows = table(standard(), "rows");
  std::map<std::string, std::size_t> at;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) at[cell<std::string>(rows, i, "scheme")] = i;
  for (const char* wrong : {"sinusoidal_in_values", "sinusoidal_in_output"}) {
    EXPECT_FALSE(cell<bool>(rows, at[wrong], "equivariant")) << wrong;
    EXPECT_TRUE(cell<bool>(rows, at[wrong], "weights_equivariant")) << wrong;
  }
  EXPECT_FALSE(cell<bool>(rows, at["sinusoidal_in_output"], "order_reaches"));
  EXPECT_FALSE(cell<bool>(rows, at["none_causal"], "equivariant"));
  ASSERT_EQ(standard().controls.size(), 3u);
  for (const StudyControl& control : standard().controls) EXPECT_TRUE(control.failed);
}

// The arm's attention against the formula, with positions added to what it reads.
TEST(PositionsStudy, MeasuresTheAttentionThatTheFormulaIs) {
  const PositionProblem problem = draw_position_problem(5, 4, 3);
  const auto arms = position_arms(4, 16);
  const auto arm = std::find_if(arms.begin(), arms.end(),
                                [](const PositionArm& one) { return one.key == "sinusoidal"; });
  ASSERT_NE(arm, arms.end());
  const PositionRows rows = literal_sinusoids(7, 4, 10000);
  const auto projected = [&](const Tensor& matrix, std::int64_t token, std::int64_t column) {
    double sum = 0;
    for (std::int64_t c = 0; c < 4; ++c) {
      sum += (static_cast<double>(problem.x.data<float>()[token * 4 + c]) + rows.at(token + 2, c)) *
             static_cast<double>(matrix.data<float>()[c * 4 + column]);
    }
    return sum;
  };
  const ArmOutcome outcome = attend_arm(*arm, problem, problem.x, 2);
  for (std::int64_t i = 0; i < 5; ++i) {
    double total = 0, weight[5];
    for (std::int64_t j = 0; j < 5; ++j) {
      double score = 0;
      for (std::int64_t c = 0; c < 4; ++c) {
        score += projected(problem.to_query, i, c) * projected(problem.to_key, j, c);
      }
      total += weight[j] = std::exp(score / 2);
    }
    for (std::int64_t c = 0; c < 4; ++c) {
      double wanted = 0;
      for (std::int64_t j = 0; j < 5; ++j) {
        wanted += weight[j] / total * projected(problem.to_value, j, c);
      }
      EXPECT_NEAR(static_cast<double>(outcome.output.data<float>()[i * 4 + c]), wanted, 1e-5);
    }
    for (std::int64_t j = 0; j < 5; ++j) {
      EXPECT_NEAR(static_cast<double>(outcome.weights.data<float>()[i * 5 + j]), weight[j] / total,
                  1e-6);
    }
  }
}

TEST(PositionsStudy, SpreadsAreTakenAlongDiagonals) {
  const auto spreads = offset_spreads({2, 2, {1, 5, -2, 4}});
  ASSERT_EQ(spreads.size(), 3u);
  EXPECT_EQ(spreads[0].offset, -1);
  EXPECT_EQ(spreads[0].least, 5);
  EXPECT_EQ(spreads[1].spread(), 3);
  EXPECT_EQ(spreads[2].largest, -2);
  EXPECT_EQ(widest_spread(spreads, 0), 3);
}

TEST(PositionsStudy, OtherSizesStandOnThePage) {
  for (const auto& [tokens, width] : {std::pair<std::int64_t, std::int64_t>{4, 4}, {17, 32}}) {
    const StudyResult result =
        study_positions({.tokens = tokens, .width = width, .seed = 5, .draws = 2, .shift = 1});
    for (const StudyControl& control : result.controls) EXPECT_TRUE(control.failed) << tokens;
    std::istringstream lines(study_text(result));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
    EXPECT_EQ(study_svg(result).find("nan"), std::string::npos);
  }
  EXPECT_THAT(study_text(standard()), HasSubstr("It is not evidence about a trained model"));
}

TEST(PositionsStudy, AnyNumberOfThreadsGivesTheSameBits) {
  const auto json = [](int threads) {
    std::ostringstream out;
    write_study_json(out, study_positions({.draws = 3}, {.threads = threads}));
    return out.str();
  };
  EXPECT_EQ(json(3), json(1));
}

TEST(PositionsStudy, StopsBetweenSchemes) {
  int asked = 0;
  const StudyResult result = study_positions({}, {.stopped = [&] { return ++asked > 2; }});
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.tables[0].rows.size(), 2u);
  EXPECT_FALSE(study_text(result).empty());
}

void expect_refused(const PositionsStudyOptions& options, const std::string& says) {
  try {
    study_positions(options);
    FAIL() << "not refused: " << says;
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr(says));
  }
}

TEST(PositionsStudy, RefusesWhatCannotBeMeasured) {
  expect_refused({.tokens = 3}, "tokens must be 4 to 256, not 3");
  expect_refused({.width = 7}, "width 7 is odd");
  expect_refused({.width = 0}, "width must be 2 to 512, not 0");
  expect_refused({.draws = -1}, "draws must be 0 to");
  expect_refused({.shift = 0}, "shift must be 1 to");
  expect_refused({.learned_rows = 0}, "learned-rows must be 1 to");
}

}  // namespace
}  // namespace volvelle
