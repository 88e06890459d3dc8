// The sizes at which the loops of the backward end, the oracle at chosen rows, and the ways to ask.
#include <gtest/gtest.h>

#include <cmath>

#include "attention/composed_backward.h"
#include "support/gradients.h"

namespace volvelle::testing {
namespace {

void expect_oracles(const Recipe& recipe) {
  SCOPED_TRACE(::testing::PrintToString(recipe));
  const Made made = make(recipe);
  const Gradients right = oracle_gradients(made.problem, made.grad_output);
  for (const Route& route : gradient_routes()) {
    EXPECT_EQ(gradient_difference(made.problem, made.grad_output,
                                  gradients(made.problem, made.grad_output, route), right),
              "")
        << route.name;
  }
}

TEST(GradientEdges, LengthsAroundTilesAndPanels) {
  for (const std::int64_t queries : {1, 2, 5, 63, 65, 129}) {
    for (const std::int64_t keys : {1, 2, 7, 127, 128, 129, 257}) {
      Recipe recipe;
      recipe.queries = queries;
      recipe.keys = keys;
      recipe.width = 8;
      recipe.value_width = 5;
      recipe.causal = (queries + keys) % 2 == 0;
      expect_oracles(recipe);
    }
  }
}

TEST(GradientEdges, HeadWidthsAndCounts) {
  for (const std::int64_t width : {1, 2, 5, 9, 20, 80, 100, 192}) {
    Recipe recipe;
    recipe.queries = 19;
    recipe.keys = 35;
    recipe.width = width;
    recipe.value_width = width == 192 ? 128 : width;
    recipe.causal = true;
    expect_oracles(recipe);
  }
  for (const std::int64_t heads : {1, 6, 12}) {
    Recipe recipe;
    recipe.key_heads = heads % 4 == 0 ? 4 : 1;
    recipe.group = heads / recipe.key_heads;
    recipe.queries = 5;
    recipe.keys = 9;
    expect_oracles(recipe);
  }
}

// Without queries every gradient is a sum of nothing; without keys so is q's.
TEST(GradientEdges, NoQueriesOrNoKeys) {
  for (const bool no_queries : {true, false}) {
    Recipe recipe;
    recipe.batch = recipe.key_heads = recipe.group = 2;
    recipe.queries = no_queries ? 0 : 3;
    recipe.keys = no_queries ? 3 : 0;
    recipe.slopes = recipe.sinks = true;
    recipe.table_reach = 1;
    recipe.buckets = Buckets::one_way;
    for (const Span span : {Span::full, Span::keys, Span::queries, Span::scalar}) {
      recipe.bias = span;
      const Made made = make(recipe);
      for (const Route& route : gradient_routes()) {
        const Gradients ours = gradients(made.problem, made.grad_output, route);
        for (const NamedGradient& gradient : named_gradients()) {
          for (const double value : values_of((ours.*gradient.array).view())) {
            EXPECT_EQ(value, 0) << gradient.name << " " << route.name;
          }
        }
      }
    }
  }
}

TEST(GradientEdges, TheLibraryMakesWhatTheProblemHas) {
  Recipe recipe;
  recipe.rank = 3;
  recipe.dtype = DType::float16;
  recipe.slopes = true;
  const Made made = make(recipe);
  const AttentionResult forward = attend(made.problem);
  const AttentionGradientResult result =
      attend_backward(made.problem, {.output = forward.output.view(), .lse = forward.lse.view()},
                      made.grad_output, AttentionGradientRequest{.k = false});
  EXPECT_EQ(result.q.shape(), made.problem.q.shape());
  EXPECT_EQ(result.q.dtype(), DType::float16);
  EXPECT_EQ(result.slopes.dtype(), DType::float32);
  EXPECT_FALSE(result.k);
  EXPECT_TRUE(result.v);
  for (const Tensor* absent :
       {&result.bias, &result.bias_table, &result.bucket_table, &result.sinks}) {
    EXPECT_FALSE(*absent);
  }
}

TEST(GradientEdges, RankFourServesAProblemOfRankTwo) {
  Recipe recipe;
  recipe.rank = 2;
  const Made made = make(recipe);
  const AttentionResult forward = attend(made.problem);
  for (const Route& route : gradient_routes()) {
    const Gradients right = gradients(made.problem, made.grad_output, route);
    Tensor q(DType::float32, {1, 1, 4, 4});
    const SimdScope scope(route.simd.empty() ? "best" : route.simd);
    attend_backward(made.problem, {.output = forward.output.view(), .lse = forward.lse.view()},
                    View(made.grad_output.data(), DType::float32, {1, 1, 4, 4}),
                    AttentionGradients{.q = q.mutable_view()}, {.path = route.path});
    const std::vector<double> a = values_of(q.view()), b = values_of(right.q.view());
    for (std::size_t n = 0; n < a.size(); ++n) EXPECT_NEAR(a[n], b[n], 1e-6) << route.name;
  }
}

// Heads computed a few at a time, as memory allows, give the bits of all at once.
TEST(GradientEdges, ComposedBitsDoNotDependOnItsMemory) {
  Recipe recipe;
  recipe.batch = recipe.key_heads = recipe.group = 2;
  recipe.queries = recipe.keys = 20;
  recipe.bias = Span::plane;
  recipe.softcap = 3;
  const Made made = make(recipe);
  const Route composed = gradient_routes().back();
  ASSERT_EQ(composed.path, AttentionPath::composed);
  const Gradients right = gradients(made.problem, made.grad_output, composed, 8);
  const Answer saved = answer(made.problem, composed);
  const ResolvedAttention resolved = resolve(made.problem);
  Gradients ours = right;
  ours.bias = Tensor(DType::float32, right.bias.shape());
  ours.k = Tensor(DType::float32, right.k.shape());
  const ResolvedBackward backward = resolve_backward(
      resolved, made.problem, {.output = saved.output.view(), .lse = saved.lse.view()},
      made.grad_output, {.k = ours.k.mutable_view(), .bias = ours.bias.mutable_view()});
  attend_backward_composed(resolved, backward, 8, 40000);
  EXPECT_EQ(bit_difference(ours, right), "");
}

// The oracle at chosen rows is the oracle.
TEST(OracleGradientRows, AreThoseOfTheWhole) {
  Recipe recipe;
  recipe.dtype = DType::float64;
  recipe.batch = recipe.key_heads = recipe.group = 2;
  recipe.queries = 6;
  recipe.keys = 9;
  recipe.width = 3;
  recipe.value_width = 5;
  recipe.softcap = 2;
  recipe.dropout = 0.3;
  recipe.sinks = recipe.causal = true;
  const Made made = make(recipe);
  const Answer saved = oracle_answer(made.problem);
  const ResolvedAttention r = resolve(made.problem);
  const ResolvedBackward backward =
      resolve_backward(r, made.problem, {.output = saved.output.view(), .lse = saved.lse.view()},
                       made.grad_output, {});
  const std::vector<QueryRow> queries = {{1, 3, 5}, {0, 0, 0}, {1, 2, 4}};
  const std::vector<KeyRow> keys = {{1, 1, 8}, {0, 0, 2}, {1, 1, 0}};
  using F = BackwardFault;
  for (const F fault : {F::none, F::scale_missing, F::delta_missing, F::cap_slope_missing,
                        F::key_heads_not_summed, F::dropout_unscaled, F::q_halved, F::k_halved,
                        F::v_halved, F::q_dropped, F::k_dropped, F::v_dropped}) {
    const Gradients whole = oracle_gradients(made.problem, made.grad_output, fault);
    std::vector<double> q(9), k(9), v(15);
    attend_backward_oracle_queries(r, backward, queries, q.data(), fault);
    for (std::size_t n = 0; n < 9; ++n) {
      const QueryRow& at = queries[n / 3];
      const std::int64_t row = (at.batch * 4 + at.head) * 6 + at.query;
      EXPECT_NEAR(q[n], whole.q.data<double>()[row * 3 + static_cast<std::int64_t>(n % 3)], 1e-12);
    }
    for (const RowStatistics statistics : {RowStatistics::recomputed, RowStatistics::saved}) {
      // The saved output is the right one, whatever the fault.
      if (statistics == RowStatistics::saved && fault == F::dropout_unscaled) continue;
      attend_backward_oracle_keys(r, backward, keys, k.data(), v.data(), statistics, fault);
      const auto row_of = [&](std::size_t n) {
        return (keys[n].batch * 2 + keys[n].key_head) * 9 + keys[n].key;
      };
      for (std::size_t n = 0; n < 9; ++n) {
        EXPECT_NEAR(k[n],
                    whole.k.data<double>()[row_of(n / 3) * 3 + static_cast<std::int64_t>(n % 3)],
                    1e-12);
      }
      for (std::size_t n = 0; n < 15; ++n) {
        EXPECT_NEAR(v[n],
                    whole.v.data<double>()[row_of(n / 5) * 5 + static_cast<std::int64_t>(n % 5)],
                    1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace volvelle::testing
