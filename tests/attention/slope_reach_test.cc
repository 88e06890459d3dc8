// Tiles that ALiBi slopes leave without weight are not walked, and nobody can tell from the result.
#include "attention/slope_reach.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/attention_forward.h"
#include "support/gradients.h"

namespace volvelle::testing {
namespace {

// Long enough for steep slopes to make looking worthwhile.
struct Steep {
  explicit Steep(DType dtype, std::int64_t queries = 300, double poison = 0,
                 std::int64_t keys = 420) {
    Recipe recipe;
    recipe.dtype = dtype;
    recipe.group = 2;
    recipe.queries = queries;
    recipe.keys = keys;
    recipe.width = 8;
    recipe.value_width = 6;
    made = make(recipe);
    problem = made.problem;
    problem.causal = true;
    const double steep = dtype == DType::float64 ? 60 : 8;
    slopes = listed(DType::float32, Shape{2}, {steep, steep / 3});
    problem.slopes = slopes.view();
    zeros = Tensor::zeros(DType::float32, Shape{2, 1});
    if (poison != 0) {
      values = copy_of(problem.v);
      set_element(values.raw(), dtype, 0, poison);
      problem.v = values.view();
    }
  }
  // The same answer by another road: with a table the slopes' reach is not looked for.
  AttentionProblem with_table() const {
    AttentionProblem other = problem;
    other.bias_table = zeros.view();
    return other;
  }
  Made made;
  AttentionProblem problem;
  Tensor slopes, zeros, values;
};

TEST(SlopeReach, TakesOffOnlyTilesWithoutWeight) {
  const Steep steep(DType::float32);
  const ResolvedAttention problem = resolve(steep.problem);
  const StridedTiles<float> source(problem);
  Workspace workspace;
  const SlopeReach<float> reach(problem, source, 50, 2, workspace);
  const Tensor lse = oracle_answer(steep.problem).lse;
  const double scale = 1 / std::sqrt(8.0);
  std::int64_t dropped = 0;
  for (std::int64_t h = 0; h < 2; ++h) {
    for (std::int64_t query = 0; query < problem.queries; query += 32) {
      const int count = static_cast<int>(std::min<std::int64_t>(32, problem.queries - query));
      PanelExclusion whole;
      exclude_by_index(problem, 0, query, count, whole);
      PanelExclusion narrow = whole;
      reach.narrow(0, h, query, count, narrow);
      EXPECT_LT(narrow.any_first, narrow.any_last);
      EXPECT_EQ(narrow.any_first % kernels::kTileKeys, 0);
      EXPECT_EQ(narrow.any_last, whole.any_last) << "the nearest keys stay";
      dropped += narrow.any_first;
      for (std::int64_t i = query; i < query + count; ++i) {
        for (std::int64_t j = 0; j < narrow.any_first; ++j) {
          double product = 0;
          for (std::int64_t d = 0; d < 8; ++d) {
            product +=
                element_as_double(steep.problem.q, steep.problem.q.strides()[1] * h +
                                                       steep.problem.q.strides()[2] * i + d) *
                element_as_double(steep.problem.k, steep.problem.k.strides()[2] * j + d);
          }
          const double slope = h == 0 ? 8.0 : 8.0f / 3;
          const double distance = static_cast<double>(i + problem.offset(0) - j);
          const double score = scale * product - slope * distance;
          const double row = element_as_double(lse.view(), h * problem.queries + i);
          ASSERT_LT(score - row, -87.33) << "head " << h << " query " << i << " key " << j;
        }
      }
    }
  }
  EXPECT_GT(dropped, 0);
}

TEST(SlopeReach, OfGentleSlopesIsNotLookedFor) {
  Steep gentle(DType::float32);
  gentle.slopes = listed(DType::float32, Shape{2}, {0.1, 0.05});
  gentle.problem.slopes = gentle.slopes.view();
  const ResolvedAttention problem = resolve(gentle.problem);
  const StridedTiles<float> source(problem);
  Workspace workspace;
  const SlopeReach<float> reach(problem, source, 50, 1, workspace);
  PanelExclusion panel;
  exclude_by_index(problem, 0, 288, 12, panel);
  const std::int64_t before = panel.any_first;
  reach.narrow(0, 0, 288, 12, panel);
  EXPECT_EQ(panel.any_first, before);
}

TEST(SlopeReach, ChangesNoBit) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    for (const std::int64_t window : {0, 350}) {
      Steep steep(dtype);
      steep.problem.window = window;
      steep.problem.causal = window == 0;
      for (const Route& route : fused_routes()) {
        SCOPED_TRACE(route.name + " " + std::string(name_of(dtype)));
        const AttentionProblem other = steep.with_table();
        EXPECT_EQ(bit_difference(answer(steep.problem, route, 2), answer(other, route, 2)), "");
        const Gradients ours = gradients(steep.problem, steep.made.grad_output, route, 2);
        Gradients theirs = gradients(other, steep.made.grad_output, route, 2);
        theirs.bias_table = {};
        EXPECT_EQ(bit_difference(ours, theirs), "");
      }
    }
  }
}

void expect_same_bits(const AttentionProblem& problem, const AttentionProblem& other,
                      const View& grad_output) {
  for (const Route& route : fused_routes()) {
    SCOPED_TRACE(route.name);
    EXPECT_EQ(bit_difference(answer(problem, route, 2), answer(other, route, 2)), "");
    const Gradients ours = gradients(problem, grad_output, route, 2);
    Gradients theirs = gradients(other, grad_output, route, 2);
    theirs.bias_table = {};
    EXPECT_EQ(bit_difference(ours, theirs), "");
  }
}

// The nearest key that a query sees may be far from it.
TEST(SlopeReach, IsCountedFromTheNearestKeySeen) {
  Steep steep(DType::float32);
  steep.problem.causal = false;
  for (const std::int64_t offset : {460, -360}) {
    SCOPED_TRACE(offset);
    const Tensor offsets = listed(DType::int64, Shape{1}, {static_cast<double>(offset)});
    steep.problem.query_offset = offsets.view();
    expect_same_bits(steep.problem, steep.with_table(), steep.made.grad_output);
  }
  steep.problem.query_offset = {};
  const Tensor lengths = listed(DType::int64, Shape{1}, {200});
  steep.problem.key_lengths = lengths.view();
  for (const Padding padding : {Padding::right, Padding::left}) {
    steep.problem.padding = padding;
    expect_same_bits(steep.problem, steep.with_table(), steep.made.grad_output);
  }
}

// So far away float32 gives neighbouring keys the same bias.
TEST(SlopeReach, IsNotLookedForWhereDistancesAreRounded) {
  Steep steep(DType::float32);
  steep.problem.causal = false;
  for (const std::int64_t beyond : {0, 30, 60, 90}) {
    const Tensor offsets =
        listed(DType::int64, Shape{1}, {1073740000.0 + static_cast<double>(beyond)});
    steep.problem.query_offset = offsets.view();
    for (const Route& route : fused_routes()) {
      EXPECT_EQ(bit_difference(answer(steep.problem, route), answer(steep.with_table(), route)), "")
          << route.name << " offset " << beyond;
    }
  }
}

// The products of pairs are looked at from more keys on.
TEST(SlopeReach, ChangesNoBitOfPairs) {
  const Steep steep(DType::bfloat16, 900, 0, 1200);
  expect_same_bits(steep.problem, steep.with_table(), steep.made.grad_output);
}

// A vector on far keys, or a turn that makes queries longer (it is their turned length that
// counts), lifts scores beyond the bound of those given.
TEST(SlopeReach, IsUnknownWhereSomethingElseReachesScores) {
  const Steep steep(DType::float32);
  AttentionProblem with_vectors = steep.problem;
  const Tensor vectors = filled(DType::float32, Shape{2, 3, 8}, [] { return 300; });
  with_vectors.relative_keys = vectors.view();
  AttentionProblem with_turn = steep.problem;
  const Tensor cosines = filled(DType::float32, Shape{420, 4}, [] { return 40; });
  const Tensor sines = Tensor::zeros(DType::float32, Shape{420, 4});
  with_turn.rotary.cosines = cosines.view();
  with_turn.rotary.sines = sines.view();
  for (const AttentionProblem& problem : {with_vectors, with_turn}) {
    AttentionProblem other = problem;
    other.bias_table = steep.zeros.view();
    for (const Route& route : fused_routes()) {
      if (explain(problem).path != AttentionPath::fused) continue;
      EXPECT_EQ(bit_difference(answer(problem, route), answer(other, route)), "") << route.name;
    }
  }
}

// 0 times infinity is not 0: what a seen value does to far queries stays.
TEST(SlopeReach, IsUnknownWhereSomethingIsNotFinite) {
  const Steep steep(DType::float32, 300, std::numeric_limits<double>::infinity());
  for (const Route& route : fused_routes()) {
    const Answer ours = answer(steep.problem, route);
    const Answer theirs = answer(steep.with_table(), route);
    std::int64_t lost = 0;
    for (std::int64_t i = 0; i < ours.output.size(); ++i) {
      const double a = element_as_double(ours.output.view(), i);
      const double b = element_as_double(theirs.output.view(), i);
      ASSERT_EQ(std::isfinite(a), std::isfinite(b)) << route.name << " element " << i;
      lost += std::isfinite(a) ? 0 : 1;
    }
    EXPECT_GT(lost, 300) << route.name;
  }
}

TEST(SlopeReach, IsUnknownWhereAnOutputsGradientIsNotFinite) {
  const Steep steep(DType::float32);
  Tensor grad_output = copy_of(steep.made.grad_output);
  // The last query's.
  set_element(grad_output.raw(), DType::float32, grad_output.size() - 1,
              std::numeric_limits<double>::infinity());
  for (const Route& route : fused_routes()) {
    const Gradients ours = gradients(steep.problem, grad_output.view(), route);
    const Gradients theirs = gradients(steep.with_table(), grad_output.view(), route);
    for (std::int64_t i = 0; i < ours.k.size(); ++i) {
      const double a = element_as_double(ours.k.view(), i);
      ASSERT_EQ(std::isfinite(a), std::isfinite(element_as_double(theirs.k.view(), i)))
          << route.name << " element " << i;
    }
    EXPECT_FALSE(std::isfinite(element_as_double(ours.k.view(), 0))) << route.name;
  }
}

}  // namespace
}  // namespace volvelle::testing
