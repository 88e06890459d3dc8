// What part 1 of docs/document.md states in words, as checks that can fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "volvelle/attention/attend.h"
#include "volvelle/attention/steps.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

const double kQ[] = {1, 0, 1, 1};
const double kK[] = {1, 0, 0, 1};
const double kV[] = {1, 2, 3, 4};

AttentionProblem worked_example() {
  return {.q = {kQ, {2, 2}}, .k = {kK, {2, 2}}, .v = {kV, {2, 2}}};
}

TEST(DocumentClaims, RowsOfWeightsSumToOneAndColumnsNeedNot) {
  const AttentionSteps steps = attention_steps(worked_example());
  const double* rows = steps.row_sums.data<double>();
  const double* columns = steps.column_sums.data<double>();
  EXPECT_NEAR(rows[0], 1, 1e-15);
  EXPECT_NEAR(rows[1], 1, 1e-15);
  EXPECT_NEAR(columns[0], 1.1698, 5e-5);
  EXPECT_NEAR(columns[1], 0.8302, 5e-5);
}

TEST(DocumentClaims, ACausalMaskMakesLaterWeightsExactlyZero) {
  AttentionProblem problem = worked_example();
  problem.causal = true;
  const AttentionSteps steps = attention_steps(problem);
  const double* weights = steps.weights.data<double>();
  EXPECT_EQ(weights[0], 1.0);
  EXPECT_EQ(weights[1], 0.0);
  const double* output = steps.output.data<double>();
  EXPECT_EQ(output[0], 1.0);
  EXPECT_EQ(output[1], 2.0);
}

TEST(DocumentClaims, AnotherCountOfValuesThanOfKeysIsRefused) {
  AttentionProblem problem = worked_example();
  problem.v = {kV, {1, 2}};
  EXPECT_THROW(attend(problem), InvalidArgument);
}

TEST(DocumentClaims, ValuesMayHaveAWidthOfTheirOwn) {
  const double wide[] = {1, 2, 5, 3, 4, 6};
  AttentionProblem problem = worked_example();
  problem.v = {wide, {2, 3}};
  const AttentionResult result = attend(problem);
  ASSERT_TRUE(result.output.shape() == (Shape{2, 3}));
  const double* output = result.output.data<double>();
  EXPECT_NEAR(output[0], 1.6605, 5e-5);
  EXPECT_NEAR(output[3], 2, 1e-12);
  EXPECT_NEAR(output[5], 5.5, 1e-12);
}

// The largest weight of each row, averaged: 1 is a softmax that reads one key alone.
double mean_largest_weight(const Tensor& weights, std::int64_t queries, std::int64_t keys) {
  double sum = 0;
  for (std::int64_t row = 0; row < queries; ++row) {
    const double* first = weights.data<double>() + row * keys;
    sum += *std::max_element(first, first + keys);
  }
  return sum / static_cast<double>(queries);
}

TEST(DocumentClaims, WithoutScalingTheSoftmaxSaturatesAtWidth64AndNotAtWidth2) {
  constexpr std::int64_t kTokens = 64;
  double unscaled[2], scaled[2];
  int place = 0;
  for (const std::int64_t width : {std::int64_t{2}, std::int64_t{64}}) {
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    std::vector<double> q(static_cast<std::size_t>(kTokens * width)), k = q, v = q;
    for (auto* array : {&q, &k, &v}) {
      for (double& value : *array) value = normal(random);
    }
    const Shape shape{kTokens, width};
    const AttentionSteps steps =
        attention_steps({.q = {q.data(), shape}, .k = {k.data(), shape}, .v = {v.data(), shape}});
    unscaled[place] = mean_largest_weight(steps.weights_unscaled, kTokens, kTokens);
    scaled[place] = mean_largest_weight(steps.weights, kTokens, kTokens);
    ++place;
  }
  EXPECT_LT(unscaled[0], 2 * scaled[0]);  // width 2: a small effect
  EXPECT_GT(unscaled[1], 0.6);            // width 64: one key takes nearly all
  EXPECT_LT(scaled[1], 0.3);
}

}  // namespace
}  // namespace volvelle
