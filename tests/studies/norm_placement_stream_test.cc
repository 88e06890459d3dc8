// The gradient of the stream, layer by layer: what each placement multiplies it by.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "studies/norm_jacobian.h"
#include "studies/study_tables.h"
#include "volvelle/studies/norm_placement.h"

namespace volvelle {
namespace {

using testing::cell;
using ::testing::HasSubstr;
using testing::numbers;
using testing::table;

const StudyResult& measured() {
  static const StudyResult result = study_norm_placement({.depths = {12},
                                                          .placements = {"post", "pre", "none"},
                                                          .seeds = 4,
                                                          .measure = PlacementMeasure::stream});
  return result;
}

TEST(NormPlacementStream, FactorsAreTheStepsBetweenTheNorms) {
  NormPlacementOptions options{.depths = {5}, .seeds = 1, .measure = PlacementMeasure::stream};
  const StudyResult result = study_norm_placement(options);
  const StudyTable& rows = table(result, "rows");
  const StudyTable& factors = table(result, "factors");
  for (std::size_t row = 0; row < 2; ++row) {
    const auto& norms = numbers(rows, row, "layer_norms");
    const auto& steps = numbers(factors, row, "layer_factors");
    ASSERT_EQ(norms.size(), 5u);
    ASSERT_EQ(steps.size(), 5u);
    double product = 1;
    for (std::size_t layer = 0; layer < 4; ++layer) {
      EXPECT_NEAR(steps[layer], norms[layer] / norms[layer + 1], 1e-12);
      product *= steps[layer];
    }
    EXPECT_NEAR(cell<double>(factors, row, "product"), product * steps[4], 1e-9);
    EXPECT_NEAR(cell<double>(rows, row, "median"), norms[4] / norms[0], 1e-12);
  }
}

TEST(NormPlacementStream, PreHandsOnACopyAndPostDoesNot) {
  const StudyTable& factors = table(measured(), "factors");
  const double post = cell<double>(factors, 0, "copy_through");
  const double pre = cell<double>(factors, 1, "copy_through");
  EXPECT_NEAR(cell<double>(factors, 1, "copy"), 1, 0.01);
  EXPECT_NEAR(pre, 1, 0.1);
  EXPECT_LT(post, 0.7 * pre);
  EXPECT_GT(cell<double>(factors, 1, "median_factor"), 1) << "the copy, and what branches add";
}

TEST(NormPlacementStream, ANormOnTheStreamDividesByTheSpreadAndRemovesTheMean) {
  const StudyTable& jacobian = table(measured(), "norm_jacobian");
  ASSERT_EQ(jacobian.rows.size(), 3u);
  for (std::size_t row = 0; row < 3; ++row) {
    const double passed = cell<double>(jacobian, row, "passed");
    const double inverse = cell<double>(jacobian, row, "inverse_spread");
    EXPECT_NEAR(passed / inverse, 1, 0.15) << "the spread decides what passes";
    EXPECT_LT(cell<double>(jacobian, row, "mean_behind"), 1e-5);
    EXPECT_LT(cell<double>(jacobian, row, "along_behind"), 1e-4);
  }
  EXPECT_GT(cell<double>(jacobian, 0, "mean_before"), 0.01) << "there was something to remove";
  std::string reading;
  for (const std::string& line : measured().reading) reading += line + '\n';
  EXPECT_THAT(reading, HasSubstr("divides by the spread"));
  EXPECT_THAT(reading, HasSubstr("an untouched copy passes"));
  EXPECT_THAT(reading, HasSubstr("12 layers none"));
}

std::string reading_at(std::int64_t depth) {
  const StudyResult result = study_norm_placement({.depths = {depth},
                                                   .placements = {"none", "pre"},
                                                   .seeds = 2,
                                                   .measure = PlacementMeasure::stream});
  EXPECT_GT(cell<double>(table(result, "factors"), 0, "product"), 1000);
  EXPECT_LT(cell<double>(table(result, "factors"), 1, "product"), 10);
  std::string reading;
  for (const std::string& line : result.reading) reading += line + '\n';
  return reading;
}

// A residual stream alone keeps no gradient even: without norms what branches add outgrows the
// copy, and still deeper rounding grows along with it.
TEST(NormPlacementStream, ResidualsWithoutNormsOutgrowTheCopyInADeepStack) {
  const std::string deep = reading_at(38);
  EXPECT_THAT(deep, HasSubstr("what the branches add outgrows it"));
  EXPECT_THAT(deep, HasSubstr("an untouched copy passes"));
  EXPECT_THAT(reading_at(48), HasSubstr("Rounding noise, so no reading: 48 layers none."));
}

// On numbers that can be followed: one token of two features, (3, 1): mean 2, deviation 1.
TEST(NormJacobian, IsTheFormula) {
  Tensor stream = Tensor::zeros(DType::float32, {1, 2});
  stream.data<float>()[0] = 3;
  stream.data<float>()[1] = 1;
  const Tensor nothing = Tensor::zeros(DType::float32, {1, 2});
  Tensor gradient = Tensor::zeros(DType::float32, {1, 2});
  gradient.data<float>()[0] = 1;
  const NormJacobian layer = norm_jacobian(NormKind::layer, stream, nothing, gradient);
  EXPECT_NEAR(layer.spread, 1, 1e-6);
  // (1, 0) less its mean (1/2, 1/2) less its part along (1, -1), (1/2, -1/2): nothing is left.
  EXPECT_LT(layer.passed, 1e-4);
  EXPECT_NEAR(layer.mean_before, std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(layer.along_before, std::sqrt(0.5), 1e-6);
  const NormJacobian rms = norm_jacobian(NormKind::rms, stream, nothing, gradient);
  EXPECT_NEAR(rms.spread, std::sqrt(5.0), 1e-6);
  // (1, 0) less its part along (3, 1), (0.9, 0.3): (0.1, -0.3), over the root mean square.
  EXPECT_NEAR(rms.passed, std::sqrt(0.1) / std::sqrt(5.0), 1e-6);
  EXPECT_NEAR(rms.mean_behind, 0.2 / std::sqrt(0.2), 1e-5) << "RMS norm keeps a mean";
  EXPECT_LT(rms.along_behind, 1e-6);
}

}  // namespace
}  // namespace volvelle
