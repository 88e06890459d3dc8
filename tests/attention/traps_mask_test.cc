// Faults reported of other systems' masks and softmax, with their inputs and the right values.
#include <cmath>
#include <limits>

#include "support/expect_routes.h"

namespace volvelle::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<double> output_of(const AttentionProblem& problem, const Route& route) {
  return values_of(answer(problem, route).output.view());
}

// pytorch/pytorch#103963: a boolean mask that leaves a row without a key made it NaN.
TEST(MaskTraps, BooleanMaskWithAnEmptyRow) {
  const float q[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const float k[8] = {1, 0, 1, 0, 0, 1, 0, 1};
  const float v[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const bool keep[4] = {true, true, false, false};
  AttentionProblem p{.q = View(q, {2, 4}), .k = View(k, {2, 4}), .v = View(v, {2, 4})};
  p.keep = View(keep, {2, 2});
  for (const Route& route : routes()) {
    const Answer ours = answer(p, route);
    for (int e = 0; e < 4; ++e) {
      EXPECT_EQ(ours.output.data<float>()[4 + e], 0.0F) << route.name;
      EXPECT_TRUE(std::isfinite(ours.output.data<float>()[e])) << route.name;
    }
    EXPECT_EQ(ours.lse.data<float>()[1], -kInfinity) << route.name;
  }
  // The same mask as floats is an additive bias: row 1 gets 0 on both keys.
  const float added[4] = {1, 1, 0, 0};
  p.keep = {};
  p.bias = View(added, {2, 2});
  for (const Route& route : routes()) {
    EXPECT_TRUE(std::isfinite(answer(p, route).lse.data<float>()[1])) << route.name;
  }
}

// pytorch/pytorch#41508: a window and a padding mask together.
TEST(MaskTraps, WindowAndPaddingTogether) {
  Recipe recipe;
  recipe.batch = 2;
  Made made = make(recipe);
  const std::int32_t lengths[] = {4, 2};
  made.problem.causal = true;
  made.problem.window = 2;
  made.problem.key_lengths = View(lengths, {2});
  expect_oracles_answer(made.problem);
  for (const Route& route : routes()) {
    const Answer ours = answer(made.problem, route);
    EXPECT_EQ(ours.lse.data<float>()[4 + 3], -kInfinity) << route.name;  // keys 2, 3: padding
    EXPECT_TRUE(std::isfinite(ours.lse.data<float>()[4 + 2])) << route.name;
  }
}

// pytorch/pytorch#109517: a whole row at the lowest float is arithmetic, not a mask.
TEST(MaskTraps, LowestFiniteBiasIsArithmetic) {
  const float q[1] = {1};
  const float k[3] = {0.3F, 0.1F, 0.2F};
  const float v[3] = {1, 2, 6};
  const float lowest = std::numeric_limits<float>::lowest();
  const float bias[3] = {lowest, lowest, lowest};
  AttentionProblem p{.q = View(q, {1, 1}), .k = View(k, {3, 1}), .v = View(v, {3, 1})};
  p.bias = View(bias, {1, 3});
  for (const Route& route : routes()) {
    EXPECT_NEAR(output_of(p, route)[0], 3.0, 1e-5)
        << route.name;  // in float32 all scores are equal
  }
  const bool keep[3] = {false, false, false};
  p.bias = {};
  p.keep = View(keep, {1, 3});
  for (const Route& route : routes()) EXPECT_EQ(output_of(p, route)[0], 0.0) << route.name;
  // So is the lowest double.
  p.keep = {};
  const double lowest_double[3] = {-1.7e308, -1.7e308, -1.7e308};
  p.bias = View(lowest_double, {1, 3});
  for (const Route& route : routes()) {
    EXPECT_NEAR(output_of(p, route)[0], 3.0, 1e-5) << route.name;
  }
  // A row masked in part: what is masked takes nothing, whatever type the mask has.
  p.keep = {};
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16}) {
    const double low = dtype == DType::float16    ? -65504
                       : dtype == DType::bfloat16 ? -3.38e38
                                                  : lowest;
    const Tensor mask = listed(dtype, {1, 3}, {low, 0, low});
    p.bias = mask.view();
    for (const Route& route : routes()) EXPECT_EQ(output_of(p, route)[0], 2.0) << route.name;
  }
}

// huggingface/transformers#17306: two saturated masks in half precision. Here they are sets.
TEST(MaskTraps, MasksCombineAsSets) {
  Recipe recipe;
  recipe.dtype = DType::float16;
  recipe.queries = recipe.keys = 6;
  recipe.causal = true;
  recipe.key_lengths = true;
  recipe.keep = Span::plane;
  expect_oracles_answer(recipe);
  Made made = make(recipe);
  const Tensor bias = filled(DType::float16, {6, 6}, [] { return -65504.0; });
  made.problem.bias = bias.view();
  for (const Route& route : routes()) {
    for (const double value : output_of(made.problem, route)) {
      EXPECT_FALSE(std::isnan(value)) << route.name;
    }
  }
}

// rasbt/LLMs-from-scratch#1061: "true" sees. The strict upper triangle as `keep` is the future.
TEST(MaskTraps, TrueSees) {
  const float q[3] = {1, 1, 1};
  const float v[3] = {1, 10, 100};
  const bool keep[9] = {true, false, false, true, true, false, true, true, true};
  AttentionProblem p{.q = View(q, {3, 1}), .k = View(q, {3, 1}), .v = View(v, {3, 1})};
  p.keep = View(keep, {3, 3});
  for (const Route& route : routes()) {
    const std::vector<double> ours = output_of(p, route);
    EXPECT_NEAR(ours[0], 1, 1e-5) << route.name;
    EXPECT_NEAR(ours[1], 5.5, 1e-5) << route.name;
    EXPECT_NEAR(ours[2], 37, 1e-4) << route.name;
  }
}

// pytorch/pytorch#103082: which corner causality hangs from.
TEST(MaskTraps, CausalCornerForUnequalLengths) {
  const auto seen = [](std::int64_t queries, std::int64_t keys, Alignment align,
                       const Route& route) {
    const Tensor q = Tensor::zeros(DType::float32, {queries, 2});
    const Tensor k = Tensor::zeros(DType::float32, {keys, 2});
    AttentionProblem p{.q = q.view(), .k = k.view(), .v = k.view()};
    p.causal = true;
    p.alignment = align;
    std::vector<int> counts;  // all scores are 0: exp(lse) counts the keys seen
    for (const double lse : values_of(answer(p, route).lse.view())) {
      counts.push_back(static_cast<int>(std::lround(std::exp(lse))));
    }
    return counts;
  };
  for (const Route& route : routes()) {
    EXPECT_EQ(seen(1, 16, Alignment::bottom_right, route), (std::vector<int>{16})) << route.name;
    EXPECT_EQ(seen(1, 16, Alignment::top_left, route), (std::vector<int>{1})) << route.name;
    EXPECT_EQ(seen(2, 5, Alignment::bottom_right, route), (std::vector<int>{4, 5}));
    EXPECT_EQ(seen(2, 5, Alignment::top_left, route), (std::vector<int>{1, 2}));
    EXPECT_EQ(seen(5, 2, Alignment::bottom_right, route), (std::vector<int>{0, 0, 0, 1, 2}));
    EXPECT_EQ(seen(5, 2, Alignment::top_left, route), (std::vector<int>{1, 2, 2, 2, 2}));
  }
}

// lucidrains/memory-compressed-attention#2: causal on two tokens, the first sees itself alone.
TEST(MaskTraps, CausalOnTwoTokens) {
  Recipe recipe;
  recipe.queries = recipe.keys = 2;
  recipe.causal = true;
  const Made made = make(recipe);
  const std::vector<double> v = values_of(made.problem.v);
  for (const Route& route : routes()) {
    const std::vector<double> ours = output_of(made.problem, route);
    for (std::size_t e = 0; e < 4; ++e) EXPECT_FLOAT_EQ(ours[e], v[e]) << route.name;
  }
}

// ml-explore/mlx#2608: an empty slot of a batch gives zeros and leaves the others alone.
TEST(MaskTraps, DummyBatchSlots) {
  Recipe recipe;
  recipe.batch = 2;
  recipe.queries = recipe.keys = 3;
  Made made = make(recipe);
  const Answer full = oracle_answer(made.problem);
  const std::int64_t lengths[] = {3, 0};
  made.problem.key_lengths = View(lengths, {2});
  for (const Route& route : routes()) {
    const Answer ours = answer(made.problem, route);
    for (int n = 0; n < 12; ++n) {
      EXPECT_NEAR(ours.output.data<float>()[n], full.output.data<float>()[n], 1e-5) << route.name;
      EXPECT_EQ(ours.output.data<float>()[12 + n], 0.0F) << route.name;
    }
  }
}

// kyegomez/AttentionIsOFFByOne#5: "softmax plus one" with scores -4: each key gets 0.0177.
TEST(MaskTraps, SinkKeepsItsShareOfLowScores) {
  const float q[1] = {1};
  const float k[2] = {-4, -4};
  const float v[4] = {1, 0, 0, 1};
  const float sink = 0;
  AttentionProblem p{.q = View(q, {1, 1}), .k = View(k, {2, 1}), .v = View(v, {2, 2})};
  p.sinks = View(&sink, {1});
  const double right = std::exp(-4.0) / (1 + 2 * std::exp(-4.0));
  EXPECT_NEAR(right, 0.0177, 5e-5);
  for (const Route& route : routes()) {
    EXPECT_NEAR(output_of(p, route)[0], right, 1e-7) << route.name;
    EXPECT_NEAR(output_of(p, route)[1], right, 1e-7) << route.name;
  }
}

}  // namespace
}  // namespace volvelle::testing
