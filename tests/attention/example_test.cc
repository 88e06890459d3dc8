// The worked example of the document, and what each known fault would make of it.
#include <gtest/gtest.h>

#include "support/arrays.h"
#include "support/recipe.h"
#include "support/routes.h"
#include "volvelle/attention/steps.h"

namespace volvelle::testing {
namespace {

constexpr double kRounded = 5e-5;  // the document prints four digits

struct Example {
  Tensor q = listed(DType::float32, {2, 2}, {1, 0, 1, 1});
  Tensor k = listed(DType::float32, {2, 2}, {1, 0, 0, 1});
  Tensor v = listed(DType::float32, {2, 2}, {1, 2, 3, 4});
  AttentionProblem problem{.q = q.view(), .k = k.view(), .v = v.view()};
};

void expect_near(const Tensor& ours, const std::vector<double>& right) {
  const std::vector<double> values = values_of(ours.view());
  ASSERT_EQ(values.size(), right.size());
  for (std::size_t i = 0; i < right.size(); ++i) EXPECT_NEAR(values[i], right[i], kRounded);
}

TEST(Example, EveryPathGivesThePrintedOutput) {
  const Example example;
  expect_near(oracle_answer(example.problem).output, {1.6605, 2.6605, 2, 3});
  for (const Route& route : routes()) {
    expect_near(answer(example.problem, route).output, {1.6605, 2.6605, 2, 3});
  }
}

TEST(Example, CausalKeepsTheSecondRow) {
  Example example;
  example.problem.causal = true;
  for (const Route& route : routes()) {
    expect_near(answer(example.problem, route).output, {1, 2, 2, 3});
  }
}

TEST(Example, StepsShowEveryPrintedFigure) {
  const Example example;
  const AttentionSteps steps = attention_steps(example.problem);
  expect_near(steps.scores, {1, 0, 1, 1});
  expect_near(steps.scaled, {0.7071, 0, 0.7071, 0.7071});
  expect_near(steps.weights, {0.6698, 0.3302, 0.5, 0.5});
  expect_near(steps.weights_unscaled, {0.7311, 0.2689, 0.5, 0.5});
  expect_near(steps.exponentials, {1, 0.4931, 1, 1});
  expect_near(steps.row_sums, {1, 1});
  expect_near(steps.column_sums, {1.1698, 0.8302});
  expect_near(steps.output, {1.6605, 2.6605, 2, 3});
  EXPECT_FALSE(steps.capped);
  EXPECT_FALSE(steps.biased);
  EXPECT_FALSE(steps.excluded);
}

}  // namespace
}  // namespace volvelle::testing
