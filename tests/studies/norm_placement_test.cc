// The study at its defaults beside what PyTorch gave with the same draws.
#include "volvelle/studies/norm_placement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "studies/study_tables.h"

namespace volvelle {
namespace {

using testing::cell;
using testing::numbers;
using testing::table;

const nlohmann::json& expected() {
  static const nlohmann::json data = [] {
    std::ifstream file(VOLVELLE_TEST_DATA "/studies/norm_placement.json");
    return nlohmann::json::parse(file);
  }();
  return data;
}

// Measured once for all tests: it takes seconds.
const StudyResult& at_defaults() {
  static const StudyResult result = study_norm_placement();
  return result;
}

std::string printed(const StudyTable& rows, std::size_t row) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f %.2f-%.2f", cell<double>(rows, row, "median"),
                cell<double>(rows, row, "minimum"), cell<double>(rows, row, "maximum"));
  return std::to_string(cell<std::int64_t>(rows, row, "depth")) + " " +
         cell<std::string>(rows, row, "placement") + " " + text;
}

TEST(NormPlacement, DefaultsPrintTheSixLines) {
  const StudyTable& rows = table(at_defaults(), "rows");
  const std::vector<std::string> lines{"12 post 1.15 0.97-1.47", "12 pre 0.76 0.68-0.91",
                                       "24 post 1.71 1.05-2.69", "24 pre 0.66 0.52-0.81",
                                       "48 post 2.52 0.86-6.49", "48 pre 0.57 0.46-0.79"};
  ASSERT_EQ(rows.rows.size(), lines.size());
  for (std::size_t row = 0; row < lines.size(); ++row) EXPECT_EQ(printed(rows, row), lines[row]);
}

TEST(NormPlacement, EveryRatioIsPyTorchs) {
  const StudyTable& rows = table(at_defaults(), "rows");
  for (std::size_t row = 0; row < rows.rows.size(); ++row) {
    const std::string key = std::to_string(cell<std::int64_t>(rows, row, "depth")) + "/" +
                            cell<std::string>(rows, row, "placement");
    const auto wanted = expected().at("ratios").at(key).get<std::vector<double>>();
    const std::vector<double>& ratios = numbers(rows, row, "ratios");
    ASSERT_EQ(ratios.size(), 20u) << key;
    EXPECT_EQ(cell<std::int64_t>(rows, row, "seeds"), 20);
    for (std::size_t seed = 0; seed < ratios.size(); ++seed) {
      EXPECT_NEAR(ratios[seed] / wanted[seed], 1, 2e-4) << key << " seed " << seed;
    }
  }
}

TEST(NormPlacement, RowsHaveTheirKeys) {
  const StudyTable& rows = table(at_defaults(), "rows");
  const std::vector<std::string> wanted{"depth",   "placement", "norm",   "median",     "minimum",
                                        "maximum", "seeds",     "ratios", "layer_norms"};
  std::vector<std::string> keys;
  for (const StudyColumn& column : rows.columns) keys.push_back(column.key);
  EXPECT_EQ(keys, wanted);
  EXPECT_EQ(rows.key, at_defaults().tables.front().key);
}

TEST(NormPlacement, OneSeedGivesPyTorchsLossAndNorms) {
  const StudyResult result = study_norm_placement({.depths = {12}, .seeds = 1});
  const StudyTable& rows = table(result, "rows");
  const StudyTable& output = table(result, "near_output");
  for (std::size_t row = 0; row < 2; ++row) {
    const auto& wanted =
        expected().at("seed_0_depth_12").at(cell<std::string>(rows, row, "placement"));
    EXPECT_NEAR(cell<double>(output, row, "loss"), wanted.at("loss").get<double>(), 2e-6);
    const auto norms = wanted.at("layer_norms").get<std::vector<double>>();
    const std::vector<double>& found = numbers(rows, row, "layer_norms");
    ASSERT_EQ(found.size(), norms.size());
    for (std::size_t layer = 0; layer < norms.size(); ++layer) {
      EXPECT_NEAR(found[layer] / norms[layer], 1, 2e-5) << "layer " << layer;
    }
  }
}

TEST(NormPlacement, TheControlFailsItsCheckAndNothingElseDoes) {
  const StudyResult& result = at_defaults();
  ASSERT_EQ(result.controls.size(), 1u);
  EXPECT_TRUE(result.controls[0].failed);
  const StudyTable& control = result.controls[0].tables.at(0);
  ASSERT_EQ(control.rows.size(), 2u);
  for (std::size_t row = 0; row < 2; ++row) {
    EXPECT_EQ(cell<std::int64_t>(control, row, "depth"), 12);
    EXPECT_EQ(cell<std::int64_t>(control, row, "seeds"), 1);
    EXPECT_TRUE(cell<bool>(control, row, "rounding_noise"));
    EXPECT_NEAR(cell<double>(control, row, "loss"), 1, 2e-5);
    EXPECT_NEAR(cell<double>(control, row, "disagreement"), 1, 0.01);
    EXPECT_LT(numbers(control, row, "layer_norms").front(), 1e-5);
  }
  const StudyTable& repeated = table(result, "repeated");
  ASSERT_EQ(repeated.rows.size(), 6u);
  for (std::size_t row = 0; row < 6; ++row) {
    EXPECT_FALSE(cell<bool>(repeated, row, "rounding_noise"));
    EXPECT_LT(cell<double>(repeated, row, "disagreement"), 0.02);
    EXPECT_EQ(cell<double>(repeated, row, "bound"), 0.1);
  }
}

// Beyond last/first: which is the more even, how the two differ seed by seed, how the norm near the
// output goes with depth.
TEST(NormPlacement, FiguresBeyondTheRatioAreThoseOfTheRatios) {
  const StudyResult& result = at_defaults();
  const StudyTable& evenness = table(result, "evenness");
  const double post_at_12 = cell<double>(evenness, 0, "absolute_log2_ratio");
  const double pre_at_12 = cell<double>(evenness, 1, "absolute_log2_ratio");
  EXPECT_NEAR(post_at_12, 0.20, 0.01);
  EXPECT_NEAR(pre_at_12, 0.37, 0.01);
  EXPECT_LT(post_at_12, pre_at_12) << "at 12 layers post is the more even of the two";
  EXPECT_GT(cell<double>(evenness, 4, "absolute_log2_ratio"),
            cell<double>(evenness, 5, "absolute_log2_ratio"));
  EXPECT_GT(cell<double>(evenness, 4, "factor_over_layers"), 1.5);
  EXPECT_LT(cell<double>(evenness, 5, "factor_over_layers"), 0.8);

  const StudyTable& paired = table(result, "paired");
  ASSERT_EQ(paired.rows.size(), 3u);
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(cell<std::string>(paired, row, "first"), "post");
    EXPECT_EQ(cell<std::int64_t>(paired, row, "above"), 20) << "in every seed";
    EXPECT_NEAR(cell<double>(paired, row, "probability"), std::pow(2.0, -19), 1e-12);
    EXPECT_NEAR(cell<double>(paired, row, "coverage"), 0.9586, 1e-4);
    EXPECT_GT(cell<double>(paired, row, "low"), 1);
    EXPECT_LT(cell<double>(paired, row, "low"), cell<double>(paired, row, "median_factor"));
    EXPECT_GT(cell<double>(paired, row, "high"), cell<double>(paired, row, "median_factor"));
  }

  const StudyTable& exponents = table(result, "depth_exponents");
  EXPECT_GT(cell<double>(exponents, 0, "low"), 0) << "post's last layer gets more with depth";
  EXPECT_LT(cell<double>(exponents, 1, "high"), 0) << "pre's gets less";
}

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + '\n';
  return all;
}

TEST(NormPlacement, ReadingIsComputedFromTheFiguresAndEndsWithItsLimits) {
  const std::string reading = joined(at_defaults().reading);
  EXPECT_NE(reading.find("median last/first 1.15, 1.71 and 2.52 at 12, 24 and 48 layers"),
            std::string::npos);
  EXPECT_NE(reading.find("pre stays below 1"), std::string::npos);
  EXPECT_NE(reading.find("at 12 layers post (0.2 against 0.37)"), std::string::npos);
  EXPECT_NE(reading.find("modest"), std::string::npos);
  EXPECT_NE(reading.find("That is the direction of Xiong et al. 2020"), std::string::npos);
  const std::string limits = joined(at_defaults().limits);
  for (const char* limit :
       {"At initialization only", "random labels", "not a threshold", "Nothing about final quality",
        "Post-LN is a choice", "What would change the call"}) {
    EXPECT_NE(limits.find(limit), std::string::npos) << limit;
  }
  // The other way round it reads the other way round.
  const std::string swapped = joined(
      study_norm_placement({.depths = {6}, .placements = {"pre", "post"}, .seeds = 6}).reading);
  EXPECT_NE(swapped.find("Seed by seed pre's ratio is larger than post's in 0 of 6"),
            std::string::npos)
      << swapped;
}

TEST(NormPlacement, ChartsHoldANormForEveryLayerWithItsBand) {
  const StudyResult& result = at_defaults();
  ASSERT_EQ(result.charts.size(), 3u);
  const StudyChart& deepest = result.charts[2];
  EXPECT_TRUE(deepest.in_text);
  EXPECT_FALSE(result.charts[0].in_text);
  ASSERT_EQ(deepest.series.size(), 2u);
  for (const StudySeries& series : deepest.series) {
    ASSERT_EQ(series.y.size(), 48u);
    for (std::size_t layer = 0; layer < 48; ++layer) {
      EXPECT_LE(series.low[layer], series.y[layer]);
      EXPECT_GE(series.high[layer], series.y[layer]);
    }
  }
}

}  // namespace
}  // namespace volvelle
