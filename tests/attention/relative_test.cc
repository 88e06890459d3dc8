// Relative vectors on every path: against the oracle with all other options, against a written-out
// sum, and what must show when something about them is wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/arrays.h"
#include "support/cached.h"
#include "support/gradient_check.h"
#include "support/gradients.h"
#include "support/properties.h"
#include "volvelle/attention/attend_variable.h"
#include "volvelle/base/error.h"

namespace volvelle::testing {
namespace {

Recipe sound() {
  Recipe recipe;
  recipe.batch = recipe.key_heads = recipe.group = 2;
  recipe.queries = 21;
  recipe.keys = 37;
  recipe.width = 8;
  recipe.value_width = 5;
  recipe.causal = true;
  recipe.relative_keys = 3;
  recipe.relative_queries = 5;
  recipe.relative_values = 4;
  return recipe;
}

void all_routes_agree(DType dtype) {
  holds("relative vectors agree with the oracle in " + std::string(name_of(dtype)), [dtype] {
    const Made made = make(*any_relative_recipe(dtype));
    const Answer right = oracle_answer(made.problem);
    for (const Route& route : routes_of(made.problem)) {
      const std::string wrong = difference(made.problem, answer(made.problem, route), right);
      if (!wrong.empty()) RC_FAIL(route.name + ": " + wrong);
    }
  });
}

TEST(Relative, EveryPathGivesTheOraclesAnswerInFloat32) { all_routes_agree(DType::float32); }
TEST(Relative, EveryPathGivesTheOraclesAnswerInFloat64) { all_routes_agree(DType::float64); }
TEST(Relative, EveryPathGivesTheOraclesAnswerInFloat16) { all_routes_agree(DType::float16); }
TEST(Relative, EveryPathGivesTheOraclesAnswerInBFloat16) { all_routes_agree(DType::bfloat16); }

void all_gradients_agree(DType dtype) {
  holds("gradients of relative vectors agree with the oracle in " + std::string(name_of(dtype)),
        [dtype] {
          const Recipe recipe = *any_relative_recipe(dtype);
          const Made made = make(recipe);
          const Gradients right = oracle_gradients(made.problem, made.grad_output);
          const GradientType type =
              recipe.seed % 2 == 0 ? GradientType::own : GradientType::computing;
          for (const Route& route : gradient_routes_of(made.problem)) {
            const Gradients ours = gradients(made.problem, made.grad_output, route, 2, type);
            const std::string wrong =
                gradient_difference(made.problem, made.grad_output, ours, right);
            if (!wrong.empty()) RC_FAIL(route.name + ": " + wrong);
          }
        });
}

TEST(Relative, EveryPathGivesTheOraclesGradientsInFloat32) { all_gradients_agree(DType::float32); }
TEST(Relative, EveryPathGivesTheOraclesGradientsInFloat64) { all_gradients_agree(DType::float64); }
TEST(Relative, EveryPathGivesTheOraclesGradientsInFloat16) { all_gradients_agree(DType::float16); }

// The formula once more, over plain arrays: nothing of the library's but the arrays' elements.
struct Plain {
  std::vector<double> q, k, v, rk, rq, rv;
  std::int64_t heads = 2, queries = 6, keys = 9, width = 3, reach = 2;

  std::vector<double> output(double scale, bool causal) const {
    std::vector<double> out;
    const auto at = [](const std::vector<double>& numbers, std::int64_t place) {
      return numbers[static_cast<std::size_t>(place)];
    };
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t i = 0; i < queries; ++i) {
        const std::int64_t p = i + keys - queries;
        std::vector<double> sum(static_cast<std::size_t>(width), 0.0);
        double total = 0;
        for (std::int64_t j = 0; j < keys; ++j) {
          if (causal && j > p) continue;
          const std::int64_t o = std::max(-reach, std::min(reach, j - p)) + reach;
          double score = 0;
          for (std::int64_t d = 0; d < width; ++d) {
            const double of_q = at(q, (h * queries + i) * width + d);
            const double of_k = at(k, (h * keys + j) * width + d);
            score += of_q * of_k + of_q * at(rk, o * width + d) + of_k * at(rq, o * width + d);
          }
          const double weight = std::exp(scale * score);
          total += weight;
          for (std::int64_t d = 0; d < width; ++d) {
            sum[static_cast<std::size_t>(d)] +=
                weight * (at(v, (h * keys + j) * width + d) + at(rv, o * width + d));
          }
        }
        for (const double value : sum) out.push_back(value / total);
      }
    }
    return out;
  }
};

TEST(Relative, IsTheFormulaWrittenOut) {
  Recipe recipe;
  recipe.dtype = recipe.relative_dtype = DType::float64;
  recipe.rank = 3;
  recipe.key_heads = 2;
  recipe.queries = 6;
  recipe.keys = 9;
  recipe.width = recipe.value_width = 3;
  recipe.relative_keys = recipe.relative_queries = recipe.relative_values = 2;
  for (const bool causal : {false, true}) {
    recipe.causal = causal;
    const Made made = make(recipe);
    const AttentionProblem& p = made.problem;
    const Plain plain{values_of(p.q),
                      values_of(p.k),
                      values_of(p.v),
                      values_of(p.relative_keys),
                      values_of(p.relative_queries),
                      values_of(p.relative_values)};
    const std::vector<double> right = plain.output(1 / std::sqrt(3.0), causal);
    const std::vector<double> ours = values_of(oracle_answer(p).output.view());
    ASSERT_EQ(ours.size(), right.size());
    for (std::size_t n = 0; n < ours.size(); ++n) EXPECT_NEAR(ours[n], right[n], 1e-13) << n;
  }
}

TEST(Relative, ControlEveryFaultShows) {
  for (const AttentionFault fault :
       {AttentionFault::relative_shifted, AttentionFault::relative_sign,
        AttentionFault::relative_unscaled}) {
    const Made made = make(sound());
    EXPECT_NE(
        difference(made.problem, oracle_answer(made.problem, fault), oracle_answer(made.problem)),
        "")
        << static_cast<int>(fault);
  }
}

TEST(Relative, ControlAGradientHalvedOrDroppedShows) {
  using F = BackwardFault;
  const Made made = make(sound());
  const Gradients right = oracle_gradients(made.problem, made.grad_output);
  for (const F fault :
       {F::relative_keys_halved, F::relative_queries_halved, F::relative_values_halved,
        F::relative_keys_dropped, F::relative_queries_dropped, F::relative_values_dropped}) {
    const Gradients wrong = oracle_gradients(made.problem, made.grad_output, fault);
    EXPECT_NE(gradient_difference(made.problem, made.grad_output, wrong, right), "")
        << static_cast<int>(fault);
  }
}

Recipe keys_only() {
  Recipe recipe = sound();
  recipe.relative_queries = recipe.relative_values = -1;
  return recipe;
}

TEST(Relative, KeysRunInTilesBothWays) {
  const Made made = make(keys_only());
  EXPECT_EQ(explain(made.problem).path, AttentionPath::fused);
  EXPECT_EQ(explain_backward(made.problem).path, AttentionPath::fused);
}

// Where vectors are not finite, tiles would spread them to queries that do not see them.
TEST(Relative, KeysThatAreNotFiniteGoBackOnTheComposedPath) {
  const Made made = make(keys_only());
  const View& vectors = made.problem.relative_keys;
  set_element(const_cast<void*>(vectors.data()), vectors.dtype(), 0, std::nan(""));
  EXPECT_EQ(explain(made.problem).path, AttentionPath::fused);
  const AttentionBackwardPlan plan = explain_backward(made.problem);
  EXPECT_EQ(plan.path, AttentionPath::composed);
  EXPECT_NE(plan.reason.find("not finite"), std::string::npos) << plan.reason;
}

// Tiles with offsets inside the table, at its ends and beyond it; panels cut by causality.
// A query of half precision may leave it when it turns. Vectors that others alone meet stay finite.
TEST(Relative, AQueryThatTurnsInfiniteSpoilsTheVectorsItMeetsOnly) {
  const Tensor q = listed(DType::float16, Shape{2, 2}, {60000, 60000, 1, 0.5});
  const Tensor k = listed(DType::float16, Shape{2, 2}, {1, 0.25, -0.5, 1});
  const Tensor v = listed(DType::float16, Shape{2, 2}, {1, 2, 3, 4});
  const Tensor cosines = listed(DType::float32, Shape{2, 1}, {0.70710678, 1});
  const Tensor sines = listed(DType::float32, Shape{2, 1}, {0.70710678, 0});
  const Tensor vectors = listed(DType::float16, Shape{3, 2}, {0.5, 1, -1, 0.25, 2, 1});
  const AttentionProblem problem{.q = q.view(),
                                 .k = k.view(),
                                 .v = v.view(),
                                 .rotary = {.cosines = cosines.view(), .sines = sines.view()},
                                 .relative_keys = vectors.view()};
  for (const Route& route : fused_routes()) {
    SCOPED_TRACE(route.name);
    const Gradients made = gradients(problem, v.view(), route);
    EXPECT_TRUE(std::isfinite(element_as_double(made.relative_keys.view(), 0)));
    EXPECT_TRUE(std::isfinite(element_as_double(made.relative_keys.view(), 1)));
    EXPECT_FALSE(std::isfinite(element_as_double(made.relative_keys.view(), 4)));
  }
}

TEST(Relative, KeysAroundTilesAndTables) {
  for (const std::int64_t reach : {0, 16, 128, 400}) {
    for (const bool positions : {false, true}) {
      Recipe recipe = keys_only();
      recipe.batch = recipe.key_heads = 1;
      recipe.queries = 131;
      recipe.keys = 300;
      recipe.relative_keys = reach;
      recipe.relative_shared = reach % 2 == 0;
      recipe.query_positions = recipe.key_positions = positions;
      recipe.slopes = reach == 16;
      recipe.softcap = reach == 128 ? 2 : 0;
      SCOPED_TRACE(::testing::PrintToString(recipe));
      const Made made = make(recipe);
      const Answer right = oracle_answer(made.problem);
      const Gradients back = oracle_gradients(made.problem, made.grad_output);
      for (const Route& route : routes()) {
        EXPECT_EQ(difference(made.problem, answer(made.problem, route, 2), right), "")
            << route.name;
        EXPECT_EQ(gradient_difference(made.problem, made.grad_output,
                                      gradients(made.problem, made.grad_output, route, 2), back),
                  "")
            << route.name;
      }
    }
  }
}

TEST(Relative, BitsOfKeysInTilesDoNotDependOnThreads) {
  Recipe recipe = keys_only();
  recipe.queries = 150;
  recipe.keys = 700;
  const Made made = make(recipe);
  for (const Route& route : fused_routes()) {
    EXPECT_EQ(bit_difference(answer(made.problem, route, 1), answer(made.problem, route, 3)), "")
        << route.name;
    EXPECT_EQ(bit_difference(gradients(made.problem, made.grad_output, route, 1),
                             gradients(made.problem, made.grad_output, route, 3)),
              "")
        << route.name;
  }
}

TEST(Relative, ExplainSaysWhichPathTakesThem) {
  const Made made = make(sound());
  const AttentionPlan plan = explain(made.problem);
  EXPECT_EQ(plan.path, AttentionPath::composed);
  EXPECT_NE(plan.reason.find("relative_queries"), std::string::npos) << plan.reason;
  EXPECT_EQ(explain_backward(made.problem).path, AttentionPath::composed);
  EXPECT_THROW(attend(made.problem, AttentionRequest{}, {.path = AttentionPath::fused}),
               Unsupported);
}

// A table whose reach is beyond every offset gives what the same vectors in a longer one give, and
// its outer vectors are never read.
TEST(Relative, VectorsThatNoOffsetReachesAreNotRead) {
  Recipe recipe = sound();
  recipe.batch = 1;
  recipe.relative_keys = recipe.relative_queries = recipe.relative_values = 60;
  Made made = make(recipe);
  const std::vector<Route> all = routes_of(made.problem);
  std::vector<Answer> before;
  std::vector<Gradients> back;
  for (const Route& route : all) before.push_back(answer(made.problem, route));
  for (const Route& route : gradient_routes_of(made.problem)) {
    back.push_back(gradients(made.problem, made.grad_output, route));
  }
  // Causal, T 21, S 37: offsets -36 to 0 are met.
  for (View AttentionProblem::* array :
       {&AttentionProblem::relative_keys, &AttentionProblem::relative_queries,
        &AttentionProblem::relative_values}) {
    const View& view = made.problem.*array;
    for (std::int64_t entry = 0; entry < 121; ++entry) {
      if (entry >= 24 && entry <= 60) continue;
      for (std::int64_t d = 0; d < view.shape()[1]; ++d) {
        set_element(const_cast<void*>(view.data()), view.dtype(),
                    entry * view.strides()[0] + d * view.strides()[1], std::nan(""));
      }
    }
  }
  for (std::size_t n = 0; n < all.size(); ++n) {
    EXPECT_EQ(bit_difference(answer(made.problem, all[n]), before[n]), "") << all[n].name;
  }
  std::size_t n = 0;
  for (const Route& route : gradient_routes_of(made.problem)) {
    EXPECT_EQ(bit_difference(gradients(made.problem, made.grad_output, route), back[n++]), "")
        << route.name;
  }
}

TEST(Relative, MOfZeroIsOneVectorForAll) {
  Recipe recipe = sound();
  recipe.relative_keys = recipe.relative_queries = recipe.relative_values = 0;
  const Made made = make(recipe);
  const Answer right = oracle_answer(made.problem);
  for (const Route& route : routes_of(made.problem)) {
    EXPECT_EQ(difference(made.problem, answer(made.problem, route), right), "") << route.name;
  }
}

TEST(Relative, BitsDoNotDependOnThreads) {
  Recipe recipe = sound();
  recipe.queries = 150;
  recipe.keys = 300;
  const Made made = make(recipe);
  for (const Route& route : routes_of(made.problem)) {
    EXPECT_EQ(bit_difference(answer(made.problem, route, 1), answer(made.problem, route, 3)), "")
        << route.name;
  }
  for (const Route& route : gradient_routes_of(made.problem)) {
    EXPECT_EQ(bit_difference(gradients(made.problem, made.grad_output, route, 1),
                             gradients(made.problem, made.grad_output, route, 3)),
              "")
        << route.name;
  }
}

// Every scheme must decode: over a cache as in the full pass, few queries or many.
TEST(Relative, ACacheGivesWhatPlainKeysGive) {
  for (const std::int64_t queries : {1, 5, 40}) {
    for (const bool values : {false, true}) {
      Recipe recipe = sound();
      recipe.queries = queries;
      recipe.keys = 150;
      if (!values) recipe.relative_queries = recipe.relative_values = -1;
      const Made made = make(recipe);
      const Cached over = cached(made.problem, {150, 61}, DType::float32);
      const Answer right = oracle_answer(over.plain);
      for (const Route& route : routes_of(made.problem)) {
        EXPECT_EQ(difference(over.plain, cached_answer(over, route), right), "")
            << route.name << " T " << queries;
      }
    }
  }
}

TEST(Relative, VariablesReceiveGradients) {
  const Tensor q = filled(DType::float32, {5, 6}, [n = 0]() mutable { return 0.1 * (n++ % 7); });
  const Tensor k = filled(DType::float32, {5, 6}, [n = 3]() mutable { return 0.1 * (n++ % 5); });
  const Tensor v = filled(DType::float32, {5, 4}, [n = 1]() mutable { return 0.1 * (n++ % 9); });
  const auto vectors = [](std::int64_t width, int first) {
    return filled(DType::float32, {2, 5, width},
                  [n = first]() mutable { return 0.2 * (n++ % 11) - 1; });
  };
  const auto function = [&](const std::vector<Variable>& inputs) {
    AttendVariableOptions options;
    options.heads = 2;
    options.rules.causal = true;
    options.relative_keys = inputs[3];
    options.relative_queries = inputs[4];
    options.relative_values = inputs[5];
    return attend(inputs[0], inputs[1], inputs[2], options);
  };
  std::vector<Tensor> inputs;
  for (const Tensor& input : {q, k, v, vectors(3, 0), vectors(3, 4), vectors(2, 8)}) {
    inputs.push_back(converted(input.view(), DType::float64));
  }
  expect_gradients(function, inputs, {.dtype = DType::float64});
  expect_gradients(function, inputs, {.dtype = DType::float32});
}

}  // namespace
}  // namespace volvelle::testing
