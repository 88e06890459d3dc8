// The rules of a backward call, each broken once: the message names the rule and the values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "attention/composed_backward.h"
#include "attention/fused_backward.h"
#include "support/arrays.h"
#include "support/recipe.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/base/error.h"

namespace volvelle::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// B 2, H 4, G 2, T 3, S 5, D 4, E 6, with every array that has a gradient.
struct Sound {
  Sound() : made(make(recipe())), problem(made.problem) {
    AttentionResult result = attend(problem);
    output = result.output;
    lse = result.lse;
    saved = {.output = output.view(), .lse = lse.view()};
    grad_output = made.grad_output;
    const View* arrays[] = {&problem.q,     &problem.k,           &problem.v,
                            &problem.bias,  &problem.slopes,      &problem.bias_table,
                            &problem.sinks, &problem.bucket_table};
    MutableView* places[] = {&gradients.q,     &gradients.k,           &gradients.v,
                             &gradients.bias,  &gradients.slopes,      &gradients.bias_table,
                             &gradients.sinks, &gradients.bucket_table};
    for (int n = 0; n < 8; ++n) {
      memory.push_back(filled(arrays[n]->dtype(), arrays[n]->shape(), [] { return 7.0; }));
      *places[n] = memory.back().mutable_view();
    }
  }

  static Recipe recipe() {
    Recipe recipe;
    recipe.batch = recipe.key_heads = recipe.group = 2;
    recipe.queries = 3;
    recipe.keys = 5;
    recipe.value_width = 6;
    recipe.bias = Span::per_head;
    recipe.slopes = recipe.sinks = recipe.causal = true;
    recipe.table_reach = 2;
    recipe.buckets = Buckets::two_way;
    return recipe;
  }

  Made made;
  AttentionProblem problem;
  Tensor output, lse;
  AttentionSaved saved;
  View grad_output;
  AttentionGradients gradients;
  std::vector<Tensor> memory;
};

// The message after one change to the sound call; nothing may have been written.
std::string message_with(const std::function<void(Sound&)>& change) {
  Sound sound;
  change(sound);
  try {
    attend_backward(sound.problem, sound.saved, sound.grad_output, sound.gradients);
  } catch (const InvalidArgument& error) {
    for (const Tensor& gradient : sound.memory) {
      for (const double value : values_of(gradient.view())) EXPECT_EQ(value, 7);
    }
    return error.what();
  }
  return "no throw";
}

template <class... Parts>
auto says(const Parts&... parts) {
  return AllOf(StartsWith("[attend_backward] "), HasSubstr(parts)...);
}

TEST(BadGradients, TheSoundCallIsAccepted) {
  EXPECT_EQ(message_with([](Sound&) {}), "no throw");
}

TEST(BadGradients, WhatGoesBackMustBeThere) {
  EXPECT_THAT(message_with([](Sound& s) { s.saved.output = {}; }), says("output is missing"));
  EXPECT_THAT(message_with([](Sound& s) { s.saved.lse = {}; }), says("lse is missing"));
  EXPECT_THAT(message_with([](Sound& s) { s.grad_output = {}; }), says("grad_output is missing"));
}

TEST(BadGradients, ShapesOfWhatGoesBack) {
  const Tensor wrong = Tensor::zeros(DType::float32, {2, 4, 3, 4});
  EXPECT_THAT(message_with([&](Sound& s) { s.saved.output = wrong.view(); }),
              says("output (2,4,3,4) must have shape (B,H,T,E) = (2,4,3,6)"));
  EXPECT_THAT(message_with([&](Sound& s) { s.grad_output = wrong.view(); }),
              says("grad_output (2,4,3,4) must have shape (B,H,T,E) = (2,4,3,6)"));
  EXPECT_THAT(message_with([&](Sound& s) { s.saved.lse = wrong.view(); }),
              says("lse (2,4,3,4) must have shape (B,H,T) = (2,4,3)"));
  EXPECT_THAT(
      message_with([&](Sound& s) { s.grad_output = View(nullptr, DType::float32, {2, 4, 3, 6}); }),
      says("grad_output (2,4,3,6) has elements but its pointer is null"));
}

TEST(BadGradients, DtypesOfWhatGoesBack) {
  const Tensor wide = Tensor::zeros(DType::float64, {2, 4, 3, 6});
  const Tensor wide_lse = Tensor::zeros(DType::float64, {2, 4, 3});
  const Tensor integers = Tensor::zeros(DType::int32, {2, 4, 3, 6});
  EXPECT_THAT(message_with([&](Sound& s) { s.saved.output = wide.view(); }),
              says("output is float64; it must be float32"));
  EXPECT_THAT(message_with([&](Sound& s) { s.saved.lse = wide_lse.view(); }),
              says("lse is float64; it must be float32"));
  EXPECT_THAT(message_with([&](Sound& s) { s.grad_output = integers.view(); }),
              says("grad_output is int32; it must be float32, float64, float16 or bfloat16"));
  EXPECT_EQ(message_with([&](Sound& s) { s.grad_output = wide.view(); }), "no throw");
}

TEST(BadGradients, LogSumExpOfAnotherProblem) {
  EXPECT_THAT(message_with([](Sound& s) {
                AttentionProblem other = s.problem;
                other.scale = 0.9;
                s.lse = attend(other).lse;
                s.saved.lse = s.lse.view();
              }),
              says("lse is not this problem's: row (1,3,2) has", "given is"));
  EXPECT_THAT(message_with([](Sound& s) {
                s.lse = filled(DType::float32, s.lse.shape(), [] { return -kInfinity; });
                s.saved.lse = s.lse.view();
              }),
              says("lse is not this problem's", "-inf"));
  // What is not a number stands for nothing: overflow is no other problem.
  EXPECT_EQ(message_with([](Sound& s) {
              s.lse = filled(DType::float32, s.lse.shape(), [] { return std::nan(""); });
              s.saved.lse = s.lse.view();
            }),
            "no throw");
}

// Rounding of every dtype stays within what is taken for the same problem.
TEST(BadGradients, LogSumExpOfTheSameProblemIsAccepted) {
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    for (const double scale : {0.5, 30.0, -3.0}) {
      Recipe recipe = Sound::recipe();
      recipe.dtype = dtype;
      recipe.scale = scale;
      recipe.width = 64;
      recipe.keys = 300;
      const Made made = make(recipe);
      const AttentionResult result = attend(made.problem);
      EXPECT_NO_THROW(attend_backward(made.problem,
                                      {.output = result.output.view(), .lse = result.lse.view()},
                                      made.grad_output, AttentionGradientRequest{}));
    }
  }
}

TEST(BadGradients, AGradientNeedsItsArray) {
  EXPECT_THAT(message_with([](Sound& s) { s.problem.bias = {}; }),
              says("grad_bias is given but the problem has no bias"));
  EXPECT_THAT(message_with([](Sound& s) { s.problem.slopes = {}; }),
              says("grad_slopes is given but the problem has no slopes"));
  EXPECT_THAT(message_with([](Sound& s) { s.problem.sinks = {}; }),
              says("grad_sinks is given but the problem has no sinks"));
  EXPECT_THAT(message_with([](Sound& s) { s.problem.bias_table = {}; }),
              says("grad_bias_table is given but the problem has no bias_table"));
  EXPECT_THAT(message_with([](Sound& s) {
                s.problem.bucket_table = {};
                s.problem.buckets = Buckets::none;
                s.problem.max_distance = AttentionProblem{}.max_distance;
              }),
              says("grad_bucket_table is given but the problem has no bucket_table"));
}

TEST(BadGradients, ShapesAndDtypes) {
  Tensor q = Tensor::zeros(DType::float32, {2, 4, 5, 4});
  Tensor keys = Tensor::zeros(DType::float32, {2, 4, 5, 4});
  Tensor bias = Tensor::zeros(DType::float32, {2, 4, 3, 5});
  Tensor table = Tensor::zeros(DType::float64, {4, 3});
  Tensor slopes = Tensor::zeros(DType::float32, {4, 1});
  Tensor wide = Tensor::zeros(DType::float64, {2, 4, 3, 4});
  Tensor half = Tensor::zeros(DType::bfloat16, {4});
  EXPECT_THAT(message_with([&](Sound& s) { s.gradients.q = q.mutable_view(); }),
              says("grad_q (2,4,5,4) must have shape (B,H,T,D) = (2,4,3,4)"));
  EXPECT_THAT(message_with([&](Sound& s) { s.gradients.k = keys.mutable_view(); }),
              says("grad_k (2,4,5,4) must have shape (B,G,S,D) = (2,2,5,4)"));
  EXPECT_THAT(message_with([&](Sound& s) { s.gradients.v = keys.mutable_view(); }),
              says("grad_v (2,4,5,4) must have shape (B,G,S,E) = (2,2,5,6)"));
  EXPECT_THAT(message_with([&](Sound& s) { s.gradients.bias = bias.mutable_view(); }),
              says("grad_bias (2,4,3,5) must have the shape of bias (4,3,5)"));
  EXPECT_THAT(message_with([&](Sound& s) { s.gradients.bias_table = table.mutable_view(); }),
              says("grad_bias_table (4,3) must have the shape of bias_table (4,5)"));
  EXPECT_THAT(message_with([&](Sound& s) { s.gradients.slopes = slopes.mutable_view(); }),
              says("grad_slopes (4,1) must have the shape of slopes (4,)"));
  EXPECT_THAT(message_with([&](Sound& s) { s.gradients.q = wide.mutable_view(); }),
              says("grad_q is float64; it must be float32"));
  EXPECT_THAT(message_with([&](Sound& s) { s.gradients.sinks = half.mutable_view(); }),
              says("grad_sinks is bfloat16; it must be float32"));
  // A table of float64 in a float32 problem: its own type or the computing one.
  Tensor own = Tensor::zeros(DType::float32, {4, 5});
  EXPECT_EQ(message_with([&](Sound& s) { s.gradients.bias_table = own.mutable_view(); }),
            "no throw");
  Tensor neither = Tensor::zeros(DType::float16, {4, 5});
  EXPECT_THAT(message_with([&](Sound& s) { s.gradients.bias_table = neither.mutable_view(); }),
              says("grad_bias_table is float16; it must be float64 or float32"));
}

TEST(BadGradients, Memory) {
  EXPECT_THAT(message_with([](Sound& s) {
                s.gradients.q =
                    MutableView(s.gradients.q.data(), DType::float32, {2, 4, 3, 4}, {0, 12, 4, 1});
              }),
              says("grad_q (2,4,3,4) with strides (0,12,4,1) would be written over itself"));
  EXPECT_THAT(message_with([](Sound& s) {
                s.gradients.bias =
                    MutableView(s.gradients.bias.data(), DType::float32, {4, 3, 5}, {15, 0, 1});
              }),
              says("grad_bias (4,3,5) with strides (15,0,1) would be written over itself"));
  const auto overlapping = [](auto&& place) {
    return message_with([&](Sound& s) {
      Tensor& memory = s.memory[1];  // of k's gradient
      place(s, View(memory.raw(), DType::float32, {2, 2, 5, 4}));
    });
  };
  EXPECT_THAT(overlapping([](Sound& s, const View& same) { s.problem.k = same; }),
              says("grad_k overlaps k in memory"));
  EXPECT_THAT(overlapping([](Sound& s, const View& same) {
                s.saved.lse = View(same.data(), DType::float32, {2, 4, 3});
              }),
              says("grad_k overlaps lse in memory"));
  EXPECT_THAT(overlapping([](Sound& s, const View& same) {
                s.gradients.sinks =
                    MutableView(const_cast<void*>(same.data()), DType::float32, {4});
              }),
              says("grad_sinks overlaps grad_k in memory"));
}

TEST(BadGradients, RulesOfTheProblemAreTheForwards) {
  EXPECT_THAT(message_with([](Sound& s) { s.problem.window = -1; }),
              AllOf(StartsWith("[attend] "), HasSubstr("window -1")));
}

TEST(BadGradients, ThreadsMustNotBeNegative) {
  Sound s;
  EXPECT_THROW(attend_backward(s.problem, s.saved, s.grad_output, s.gradients, {.threads = -1}),
               InvalidArgument);
}

// Heads so wide that no panel holds them: one number seen 2^25 times by a stride of 0.
TEST(BadGradients, AForcedPathThatCannot) {
  const float one = 1e-4F;
  const std::int64_t wide = std::int64_t{1} << 25;
  const View row(&one, {1, wide}, {0, 0});
  const AttentionProblem problem{.q = row, .k = row, .v = View(&one, {1, 1})};
  Tensor output = filled(DType::float32, {1, 1}, [] { return 1e-4; });
  Tensor lse = Tensor::zeros(DType::float32, {1});
  Tensor grad_v(DType::float32, {1, 1});
  try {
    attend_backward(problem, {.output = output.view(), .lse = lse.view()}, output.view(),
                    AttentionGradients{.v = grad_v.mutable_view()}, {.path = AttentionPath::fused});
    FAIL() << "no throw";
  } catch (const Unsupported& error) {
    EXPECT_THAT(error.what(), says("the fused path was asked for", "use path automatic"));
  }
}

TEST(BadGradients, MatricesBeyondTheLimitAreRefusedWithTheirSize) {
  Sound s;
  const ResolvedAttention resolved = resolve(s.problem);
  const ResolvedBackward backward =
      resolve_backward(resolved, s.problem, s.saved, s.grad_output, s.gradients);
  try {
    attend_backward_composed(resolved, backward, 2, 1000);
    FAIL() << "no throw";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), says("T x S = 3 x 5", "bytes, above its limit of 1000"));
  }
}

// onnxruntime PR #12435: a size that leaves 63 bits is refused, not wrapped.
TEST(BadGradients, SizesBeyondSixtyThreeBitsAreRefused) {
  const float one = 0;
  const std::int64_t long_axis = std::int64_t{1} << 32;
  const View rows(&one, {long_axis, 1}, {0, 0});
  const AttentionProblem problem{.q = rows, .k = rows, .v = rows};
  const float lse = std::log(static_cast<float>(long_axis));
  const ResolvedAttention resolved = resolve(problem);
  const ResolvedBackward backward = resolve_backward(
      resolved, problem, {.output = rows, .lse = View(&lse, {long_axis}, {0})}, rows, {});
  try {
    attend_backward_composed(resolved, backward, 1);
    FAIL() << "no throw";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), says("more than 63 bits of bytes"));
  }
}

// Memory that cannot be had: 2^44 doubles. The gradient's own address range is never touched.
TEST(BadGradients, MemoryThatCannotBeHadIsNamed) {
  const float one = 0;
  const std::int64_t tokens = std::int64_t{1} << 34;
  const AttentionProblem problem{.q = View(&one, {tokens, 1024}, {0, 0}),
                                 .k = View(&one, {1, 1024}, {0, 0}),
                                 .v = View(&one, {1, 1})};
  const View rows(&one, {tokens, 1}, {0, 0});
  // Addresses that nothing is read from or written to, above those of the inputs.
  const std::uintptr_t above = reinterpret_cast<std::uintptr_t>(&one) / 4096 * 4096 + 4096;
  const MutableView grad(reinterpret_cast<void*>(above), DType::float32, {tokens, 1024});
  try {
    attend_backward(problem, {.output = rows, .lse = View(&one, {tokens}, {0})}, rows,
                    AttentionGradients{.q = grad}, {.path = AttentionPath::oracle});
    FAIL() << "no throw";
  } catch (const IoError& error) {
    EXPECT_THAT(error.what(), HasSubstr("140737488355328"));
  }
}

}  // namespace
}  // namespace volvelle::testing
