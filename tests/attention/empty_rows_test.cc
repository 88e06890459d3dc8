// A row with no key left: output 0, log-sum-exp -inf or the sink's logit, entropy 0.
#include <cmath>
#include <limits>
#include <vector>

#include "support/expect_routes.h"

namespace volvelle::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void expect_row(const Answer& answer, std::int64_t row, float lse) {
  const std::int64_t width = answer.output.shape()[3];
  for (std::int64_t e = 0; e < width; ++e) {
    EXPECT_EQ(answer.output.data<float>()[row * width + e], 0.0F);
  }
  EXPECT_EQ(answer.lse.data<float>()[row], lse);
  EXPECT_EQ(answer.entropy.data<float>()[row], 0.0F);
}

Recipe three_by_four() {
  Recipe recipe;
  recipe.queries = 3;
  recipe.keys = 4;
  return recipe;
}

void expect_empty(const AttentionProblem& problem, const std::vector<std::int64_t>& rows,
                  float lse = -kInfinity) {
  expect_oracles_answer(problem);
  for (const std::int64_t row : rows) {
    expect_row(oracle_answer(problem), row, lse);
    for (const Route& route : routes()) {
      SCOPED_TRACE(route.name);
      expect_row(answer(problem, route), row, lse);
    }
  }
}

TEST(EmptyRows, ByMask) {
  Made made = make(three_by_four());
  const bool keep[12] = {true,  false, false, true, false, false,
                         false, false, true,  true, true,  true};
  made.problem.keep = View(keep, {3, 4});
  expect_empty(made.problem, {1});
}

TEST(EmptyRows, ByCausalityWhenQueriesOutnumberKeys) {
  Recipe recipe = three_by_four();
  recipe.queries = 7;
  recipe.causal = true;
  expect_empty(make(recipe).problem, {0, 1, 2});
}

TEST(EmptyRows, WithNoKeysAtAll) {
  Recipe recipe = three_by_four();
  recipe.keys = 0;
  expect_empty(make(recipe).problem, {0, 1, 2});
}

TEST(EmptyRows, ByAKeyLengthOfZero) {
  Made made = make(three_by_four());
  const std::int32_t length = 0;
  made.problem.key_lengths = View(&length, {1});
  expect_empty(made.problem, {0, 1, 2});
  made.problem.padding = Padding::left;
  expect_empty(made.problem, {0, 1, 2});
}

TEST(EmptyRows, BySegments) {
  Made made = make(three_by_four());
  const std::int8_t query[] = {1, 2, 3};
  const std::int16_t key[] = {1, 1, 3, 3};
  made.problem.query_segments = View(query, {1, 3});
  made.problem.key_segments = View(key, {1, 4});
  expect_empty(made.problem, {1});
}

TEST(EmptyRows, ByContradictingOptions) {
  Recipe recipe = three_by_four();
  recipe.causal = true;
  recipe.window = 1;
  Made made = make(recipe);
  const std::int32_t length = 1;  // query 0 stands at key 1, beyond the only real one
  made.problem.key_lengths = View(&length, {1});
  expect_empty(made.problem, {0, 1, 2});
}

TEST(EmptyRows, WithASinkKeepTheSinksLogit) {
  Recipe recipe = three_by_four();
  recipe.queries = 7;
  recipe.causal = true;
  Made made = make(recipe);
  const float sink = 1.25F;
  made.problem.sinks = View(&sink, {1});
  expect_empty(made.problem, {0, 1, 2}, sink);
}

TEST(EmptyRows, WhoseEveryScoreIsMinusInfinity) {
  Made made = make(three_by_four());
  std::vector<float> bias(12, 0.0F);
  for (int j = 4; j < 8; ++j) bias[static_cast<std::size_t>(j)] = -kInfinity;
  made.problem.bias = View(bias.data(), {3, 4});
  expect_empty(made.problem, {1});
  const float sink = -0.5F;
  made.problem.sinks = View(&sink, {1});
  expect_empty(made.problem, {1}, sink);
}

TEST(EmptyRows, OfMinusInfinityWeighNothingIn) {
  Made made = make(three_by_four());
  std::vector<float> v(16, std::nanf(""));
  std::vector<float> bias(12, -kInfinity);
  made.problem.bias = View(bias.data(), {3, 4});
  made.problem.v = View(v.data(), {1, 1, 4, 4});
  expect_empty(made.problem, {0, 1, 2});
}

// The control: lifting one exclusion fills the row.
TEST(EmptyRows, ControlOneKeyFillsThem) {
  Made made = make(three_by_four());
  const bool keep[12] = {true, false, false, true, false, false,
                         true, false, true,  true, true,  true};
  made.problem.keep = View(keep, {3, 4});
  for (const Route& route : routes()) {
    EXPECT_TRUE(std::isfinite(answer(made.problem, route).lse.data<float>()[1])) << route.name;
  }
}

}  // namespace
}  // namespace volvelle::testing
