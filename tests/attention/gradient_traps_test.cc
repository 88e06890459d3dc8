// Faults reported of other systems' backward passes, with their inputs and the right behaviour.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/gradients.h"
#include "support/slices.h"
#include "volvelle/base/error.h"

namespace volvelle::testing {
namespace {

bool all_finite(const Tensor& array) {
  for (const double value : values_of(array.view())) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

// pytorch/pytorch#41508, PR #131060: a window and a padding mask left rows without a key, whose NaN
// gradients ruined the batch although the loss left them out.
TEST(GradientTraps, WindowAndPaddingTogether) {
  Recipe recipe;
  recipe.batch = 2;
  Made made = make(recipe);
  const std::int32_t lengths[] = {4, 2};
  AttentionProblem& padded = made.problem;
  padded.causal = true;
  padded.window = 2;
  padded.key_lengths = View(lengths, {2});
  Tensor grad = copy_of(made.grad_output);
  for (int n = 24; n < 32; ++n) grad.data<float>()[n] = 0;  // no loss over the padded rows
  AttentionProblem alone{.q = slice(slice(padded.q, 0, 1, 1), 2, 0, 2),
                         .k = slice(slice(padded.k, 0, 1, 1), 2, 0, 2),
                         .v = slice(slice(padded.v, 0, 1, 1), 2, 0, 2)};
  alone.causal = true;
  alone.window = 2;
  const View alone_grad = slice(slice(grad.view(), 0, 1, 1), 2, 0, 2);
  for (const Route& route : gradient_routes()) {
    const Gradients ours = gradients(padded, grad.view(), route);
    const Gradients one = gradients(alone, alone_grad, route);
    for (const auto& [mine, right] :
         {std::pair{&ours.q, &one.q}, std::pair{&ours.k, &one.k}, std::pair{&ours.v, &one.v}}) {
      EXPECT_TRUE(all_finite(*mine)) << route.name;
      for (int n = 0; n < 8; ++n) {
        EXPECT_NEAR(mine->data<float>()[16 + n], right->data<float>()[n], 1e-6) << route.name;
        EXPECT_EQ(mine->data<float>()[24 + n], 0) << route.name << " padding";
      }
    }
  }
}

// pytorch/pytorch#103963: a row that a boolean mask leaves without a key.
TEST(GradientTraps, BooleanMaskWithAnEmptyRow) {
  Recipe recipe;
  recipe.queries = recipe.keys = 2;
  Made made = make(recipe);
  const bool keep[4] = {true, true, false, false};
  made.problem.keep = View(keep, {2, 2});
  for (const Route& route : gradient_routes()) {
    const Gradients ours = gradients(made.problem, made.grad_output, route);
    EXPECT_TRUE(all_finite(ours.k) && all_finite(ours.v)) << route.name;
    for (int d = 0; d < 4; ++d) {
      EXPECT_NE(ours.q.data<float>()[d], 0) << route.name;
      EXPECT_EQ(ours.q.data<float>()[4 + d], 0) << route.name;
    }
  }
}

// pytorch/pytorch#109517: a whole row at the lowest float is arithmetic: a uniform mean, and so are
// its gradients.
TEST(GradientTraps, LowestFiniteBiasIsArithmetic) {
  Recipe recipe;
  recipe.queries = 2;
  recipe.keys = 3;
  Made made = make(recipe);
  const float lowest = std::numeric_limits<float>::lowest();
  const float bias[3] = {lowest, lowest, lowest};
  made.problem.bias = View(bias, {3});
  const float* grad = static_cast<const float*>(made.grad_output.data());
  const AttentionResult forward = attend(made.problem);
  const AttentionSaved saved{.output = forward.output.view(), .lse = forward.lse.view()};
  for (const AttentionPath path :
       {AttentionPath::automatic, AttentionPath::composed, AttentionPath::oracle}) {
    const AttentionGradientResult ours = attend_backward(
        made.problem, saved, made.grad_output, AttentionGradientRequest{}, {.path = path});
    for (int j = 0; j < 3; ++j) {
      for (int e = 0; e < 4; ++e) {
        EXPECT_NEAR(ours.v.data<float>()[j * 4 + e], (grad[e] + grad[4 + e]) / 3, 1e-6);
      }
    }
    EXPECT_TRUE(all_finite(ours.q) && all_finite(ours.k));
  }
  // Such a log-sum-exp has no digits left for its row's sum: the fused path says so.
  EXPECT_THROW(attend_backward(made.problem, saved, made.grad_output, AttentionGradientRequest{},
                               {.path = AttentionPath::fused}),
               Unsupported);
}

// pytorch/pytorch#124464: dropout while evaluating. It is off unless set, and then it is a function
// of the seed: the same twice, another for another seed, in the gradients as in the output.
TEST(GradientTraps, DropoutIsOffUnlessSetAndThenRepeatable) {
  Recipe recipe;
  recipe.queries = recipe.keys = 30;
  recipe.width = recipe.value_width = 8;
  const Made made = make(recipe);
  AttentionProblem training = made.problem;
  training.dropout = 0.5;
  training.dropout_seed = 1;
  AttentionProblem other = training;
  other.dropout_seed = 2;
  EXPECT_EQ(AttentionProblem{}.dropout, 0);
  for (const Route& route : gradient_routes()) {
    const Gradients first = gradients(training, made.grad_output, route);
    EXPECT_EQ(bit_difference(gradients(training, made.grad_output, route), first), "");
    EXPECT_NE(bit_difference(gradients(other, made.grad_output, route), first), "");
    EXPECT_NE(bit_difference(gradients(made.problem, made.grad_output, route), first), "");
  }
}

// Large scores: weights are a one and zeros, gradients finite.
TEST(GradientTraps, LargeScoresDoNotOverflow) {
  for (const double scale : {300.0, -300.0}) {
    Recipe recipe;
    recipe.queries = 9;
    recipe.keys = 20;
    recipe.scale = scale;
    const Made made = make(recipe);
    const Gradients right = oracle_gradients(made.problem, made.grad_output);
    for (const Route& route : gradient_routes()) {
      const Gradients ours = gradients(made.problem, made.grad_output, route);
      EXPECT_TRUE(all_finite(ours.q) && all_finite(ours.k)) << route.name;
      EXPECT_EQ(gradient_difference(made.problem, made.grad_output, ours, right), "") << route.name;
    }
  }
}

// QwenLM/Qwen3#910: q.k beyond the range of float16.
TEST(GradientTraps, ProductsBeyondFloat16) {
  const Tensor q = filled(DType::float16, {1, 8}, [] { return 256.0; });
  Tensor k = filled(DType::float16, {3, 8}, [] { return 256.0; });
  set_element(k.raw(), DType::float16, 9, 255);
  set_element(k.raw(), DType::float16, 17, 255.5);
  const Tensor v = listed(DType::float16, {3, 1}, {1, 2, 4});
  const Tensor grad = listed(DType::float16, {1, 1}, {1});
  const AttentionProblem problem{.q = q.view(), .k = k.view(), .v = v.view(), .scale = 1.0 / 256};
  const Gradients right = oracle_gradients(problem, grad.view());
  for (const Route& route : gradient_routes()) {
    EXPECT_EQ(
        gradient_difference(problem, grad.view(), gradients(problem, grad.view(), route), right),
        "")
        << route.name;
  }
}

}  // namespace
}  // namespace volvelle::testing
