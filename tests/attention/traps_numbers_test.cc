// Faults reported of other systems' numbers, strides and sizes, with their inputs and right values.
#include <gmock/gmock.h>

#include <cmath>

#include "attention/composed.h"
#include "support/expect_routes.h"
#include "volvelle/base/error.h"

namespace volvelle::testing {
namespace {

// QwenLM/Qwen3#910: a dot product beyond float16's range.
TEST(NumberTraps, HalfPrecisionProductsDoNotOverflow) {
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    const Tensor q = filled(dtype, {2, 8}, [] { return 256.0; });
    const Tensor v = listed(dtype, {2, 1}, {1, 3});
    AttentionProblem p{.q = q.view(), .k = q.view(), .v = v.view(), .scale = 1.0};
    for (const Route& route : routes()) {
      const Answer ours = answer(p, route);
      EXPECT_EQ(element_as_double(ours.output.view(), 0), 2) << route.name;
      EXPECT_NEAR(ours.lse.data<float>()[0], 524288 + std::log(2.0), 0.1) << route.name;
    }
  }
}

// huggingface/transformers#35151: one huge key in the future moves no earlier row.
TEST(NumberTraps, AHugeFutureKeyMovesNoEarlierRow) {
  Recipe recipe;
  recipe.causal = true;
  const Made made = make(recipe);
  Tensor k = copy_of(made.problem.k);
  for (int d = 0; d < 4; ++d) k.data<float>()[12 + d] = 3e38F;
  AttentionProblem huge = made.problem;
  huge.k = k.view();
  for (const Route& route : routes()) {
    const Answer right = answer(made.problem, route);
    const Answer ours = answer(huge, route);
    for (int n = 0; n < 12; ++n) {
      EXPECT_EQ(ours.output.data<float>()[n], right.output.data<float>()[n]) << route.name;
    }
  }
}

// pytorch/pytorch#112577: q, k and v cut from one (T,3,H,D) buffer.
TEST(NumberTraps, SlicesOfOneBuffer) {
  Recipe recipe;
  recipe.key_heads = 3;
  recipe.queries = recipe.keys = 7;
  const Made made = make(recipe);
  Tensor buffer(DType::float32, {7, 3, 3, 4});
  const View* const from[] = {&made.problem.q, &made.problem.k, &made.problem.v};
  View cut[3];
  for (int which = 0; which < 3; ++which) {
    const std::vector<double> values = values_of(*from[which]);
    for (std::int64_t n = 0; n < 84; ++n) {
      const std::int64_t d = n % 4, t = n / 4 % 7, h = n / 28;
      buffer.data<float>()[((t * 3 + which) * 3 + h) * 4 + d] =
          static_cast<float>(values[static_cast<std::size_t>(n)]);
    }
    cut[which] = View(buffer.data<float>() + which * 12, {1, 3, 7, 4}, {0, 4, 36, 1});
  }
  const AttentionProblem p{.q = cut[0], .k = cut[1], .v = cut[2]};
  for (const Route& route : routes()) {
    EXPECT_EQ(bit_difference(answer(p, route), answer(made.problem, route)), "") << route.name;
  }
}

// microsoft/onnxruntime#12435: sizes are worked out in 64 bits and refused by name. Here the fused
// path needs no such buffer, the composed one says how much it would take.
TEST(NumberTraps, SizesBeyondThirtyTwoBitsAreRefusedByName) {
  const float one[8] = {};
  const auto repeated = [&](std::int64_t tokens) {
    return View(one, {64, 12, tokens, 8}, {0, 0, 0, 1});
  };
  const AttentionProblem p{.q = repeated(100000), .k = repeated(100000), .v = repeated(100000)};
  try {
    attend_composed(resolve(p), {}, 1);
    FAIL() << "no throw";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("100000 x 100000"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("500"));  // 5 bytes for each of 10^10 pairs
    EXPECT_THAT(error.what(), ::testing::HasSubstr("the fused path keeps no such matrix"));
  }
}

// Dao-AILab/flash-attention#1347: any D and E.
TEST(NumberTraps, HeadSizes) {
  for (const std::int64_t width : {1, 5, 20, 80, 100, 192}) {
    Recipe recipe;
    recipe.queries = recipe.keys = 9;
    recipe.width = width;
    recipe.value_width = 128;
    expect_oracles_answer(recipe);
  }
}

// huggingface/transformers#35984: the default scale of D 20 is that of 20, padded or not.
TEST(NumberTraps, PaddingTheWidthDoesNotChangeTheScale) {
  Recipe recipe;
  recipe.width = 20;
  const Made made = make(recipe);
  EXPECT_DOUBLE_EQ(explain(made.problem).scale, 1 / std::sqrt(20.0));
  AttentionProblem said = made.problem;
  said.scale = 1 / std::sqrt(20.0);
  AttentionProblem padded = made.problem;
  padded.scale = 1 / std::sqrt(32.0);
  for (const Route& route : routes()) {
    const Answer ours = answer(made.problem, route);
    EXPECT_EQ(bit_difference(ours, answer(said, route)), "") << route.name;
    EXPECT_NE(difference(said, answer(padded, route), ours), "") << route.name << " control";
  }
}

// mlc-ai/mlc-llm#3426: a path that forgets the scale.
TEST(NumberTraps, TheScaleReachesEveryPath) {
  Recipe recipe;
  recipe.width = 64;
  recipe.queries = recipe.keys = 8;
  expect_oracles_answer(recipe);
  recipe.scale = 1;
  expect_oracles_answer(recipe);
}

// huggingface/transformers#31891: the scale is any number, not a function of D.
TEST(NumberTraps, ScaleFromAnotherNumber) {
  Recipe recipe;
  recipe.width = 128;
  recipe.scale = 1 / std::sqrt(168.0);
  expect_oracles_answer(recipe);
}

// vllm-project/vllm-metal#665: a score of 100 under a cap of 50 is 48.2.
TEST(NumberTraps, SoftcapIsApplied) {
  const float q[1] = {100};
  const float k[1] = {1};
  AttentionProblem p{.q = View(q, {1, 1}), .k = View(k, {1, 1}), .v = View(k, {1, 1})};
  p.softcap = 50;
  for (const Route& route : routes()) {
    EXPECT_NEAR(answer(p, route).lse.data<float>()[0], 48.2, 0.01) << route.name;
    EXPECT_NEAR(answer(p, route).lse.data<float>()[0], 50 * std::tanh(2.0), 2e-5) << route.name;
  }
}

// The cap comes before biases and sinks: both still reach beyond it.
TEST(NumberTraps, SoftcapComesBeforeBiasesAndSinks) {
  const float q[1] = {100};
  const float k[1] = {1};
  const float bias = 7;
  const float sink = 60;
  AttentionProblem p{.q = View(q, {1, 1}), .k = View(k, {1, 1}), .v = View(k, {1, 1})};
  p.softcap = 50;
  p.bias = View(&bias, {1, 1});
  p.sinks = View(&sink, {1});
  const double capped = 50 * std::tanh(2.0) + 7;
  for (const Route& route : routes()) {
    EXPECT_NEAR(answer(p, route).lse.data<float>()[0], std::log(std::exp(capped) + std::exp(60.0)),
                3e-5)
        << route.name;
  }
}

// onnx/onnx#7274: with values equal to their key head, four query heads over two give 0, 0, 1, 1.
TEST(NumberTraps, WhichKeyHead) {
  const Tensor q = Tensor::zeros(DType::float32, {1, 4, 2, 3});
  const Tensor k = Tensor::zeros(DType::float32, {1, 2, 5, 3});
  Tensor v = Tensor::zeros(DType::float32, {1, 2, 5, 1});
  for (int j = 0; j < 5; ++j) v.data<float>()[5 + j] = 1;
  const AttentionProblem p{.q = q.view(), .k = k.view(), .v = v.view()};
  for (const Route& route : routes()) {
    EXPECT_EQ(values_of(answer(p, route).output.view()),
              (std::vector<double>{0, 0, 0, 0, 1, 1, 1, 1}))
        << route.name;
  }
}

// unslothai/unsloth#8253: window 3 is not lost, 0 is none, on any path.
TEST(NumberTraps, WindowIsNotLost) {
  for (const std::int64_t window : {3, 0}) {
    Recipe recipe;
    recipe.queries = recipe.keys = 8;
    recipe.window = window;
    recipe.causal = true;
    expect_oracles_answer(recipe);
  }
}

// huggingface/transformers#46634: packed documents of lengths 3 and 2; token 0 moves nothing in
// the second.
TEST(NumberTraps, SecondDocumentDoesNotSeeTheFirst) {
  Recipe recipe;
  recipe.queries = recipe.keys = 5;
  recipe.causal = true;
  Made made = make(recipe);
  const std::int64_t ids[] = {0, 0, 0, 1, 1};
  made.problem.query_segments = made.problem.key_segments = View(ids, {5});
  Tensor k = copy_of(made.problem.k), v = copy_of(made.problem.v);
  k.data<float>()[0] += 3;
  v.data<float>()[1] -= 2;
  AttentionProblem moved = made.problem;
  moved.k = k.view();
  moved.v = v.view();
  for (const Route& route : routes()) {
    const Answer right = answer(made.problem, route);
    const Answer ours = answer(moved, route);
    EXPECT_NE(bit_difference(ours, right), "") << route.name << " control: document 1 must move";
    for (int n = 12; n < 20; ++n) {
      EXPECT_EQ(ours.output.data<float>()[n], right.output.data<float>()[n]) << route.name;
    }
  }
}

// vllm-project/vllm#3385 and others: left padding. Positions count real tokens, so a padded row
// with ALiBi equals its single run.
TEST(NumberTraps, LeftPaddedRowsEqualTheirSingleRuns) {
  Recipe recipe;
  recipe.queries = recipe.keys = 5;
  recipe.causal = true;
  recipe.slopes = true;
  recipe.table_reach = 2;
  const Made made = make(recipe);
  AttentionProblem padded = made.problem;
  const std::int32_t length = 2;
  const std::int32_t positions[] = {0, 0, 0, 0, 1};
  padded.key_lengths = View(&length, {1});
  padded.padding = Padding::left;
  padded.query_positions = padded.key_positions = View(positions, {1, 5});
  AttentionProblem single = made.problem;
  for (View AttentionProblem::* array :
       {&AttentionProblem::q, &AttentionProblem::k, &AttentionProblem::v}) {
    const View& whole = made.problem.*array;
    single.*array = View(static_cast<const float*>(whole.data()) + 12, {1, 1, 2, 4});
  }
  for (const Route& route : routes()) {
    const Answer ours = answer(padded, route);
    const Answer right = answer(single, route);
    for (int n = 0; n < 8; ++n) {
      EXPECT_NEAR(ours.output.data<float>()[12 + n], right.output.data<float>()[n], 1e-6)
          << route.name;
    }
  }
}

}  // namespace
}  // namespace volvelle::testing
