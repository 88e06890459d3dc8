// Gradients have the same bits for any number of threads, whatever else is in the batch, and
// whatever else is asked for.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>

#include "support/gradients.h"
#include "support/slices.h"

namespace volvelle::testing {
namespace {

Recipe busy(DType dtype, std::uint64_t seed) {
  Recipe recipe;
  recipe.seed = seed;
  recipe.dtype = dtype;
  recipe.batch = 3;
  recipe.key_heads = recipe.group = 2;
  recipe.queries = 70;
  recipe.keys = 140;
  recipe.width = recipe.value_width = 20;
  recipe.causal = true;
  recipe.bias = Span::plane;
  recipe.slopes = true;
  recipe.table_reach = 5;
  recipe.buckets = Buckets::two_way;
  recipe.sinks = true;
  recipe.keep = Span::full;
  recipe.segments = 3;
  recipe.dropout = 0.2;
  return recipe;
}

Recipe bare(DType dtype, std::uint64_t seed) {
  Recipe recipe;
  recipe.seed = seed;
  recipe.dtype = dtype;
  recipe.batch = 2;
  recipe.key_heads = 3;
  recipe.queries = recipe.keys = 140;
  recipe.width = recipe.value_width = 24;
  return recipe;
}

TEST(GradientBits, AreTheSameForOneToEightThreads) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    for (const Recipe& recipe : {busy(dtype, 5), bare(dtype, 6)}) {
      const Made made = make(recipe);
      for (const Route& route : gradient_routes()) {
        const Gradients alone = gradients(made.problem, made.grad_output, route, 1);
        const int step = dtype == DType::float32 ? 1 : 3;
        for (int threads = 2; threads <= 8; threads += step) {
          EXPECT_EQ(
              bit_difference(gradients(made.problem, made.grad_output, route, threads), alone), "")
              << route.name << " on " << threads << " threads, " << name_of(dtype);
        }
      }
    }
  }
}

TEST(GradientBits, AreTheSameCallAfterCall) {
  const Made made = make(busy(DType::float32, 8));
  for (const Route& route : gradient_routes()) {
    const Gradients first = gradients(made.problem, made.grad_output, route, 4);
    for (int call = 0; call < 5; ++call) {
      EXPECT_EQ(bit_difference(gradients(made.problem, made.grad_output, route, 4), first), "")
          << route.name;
    }
  }
}

bool same_row(const Tensor& one, const Tensor& whole, std::int64_t row) {
  return std::memcmp(
             one.raw(),
             static_cast<const char*>(whole.raw()) + static_cast<std::size_t>(row) * one.bytes(),
             one.bytes()) == 0;
}

// Row b on its own: the gradients that have a batch axis are those of the batch, bit for bit.
TEST(GradientBits, DoNotDependOnBatchNeighbours) {
  for (const DType dtype : {DType::float32, DType::float64, DType::float16}) {
    Recipe recipe = busy(dtype, 7);
    recipe.bias = Span::per_batch;
    recipe.dropout = 0;  // a cell is named by its batch row, which alone is row 0
    const Made made = make(recipe);
    for (const Route& route : gradient_routes()) {
      const Gradients whole = gradients(made.problem, made.grad_output, route, 3);
      for (std::int64_t b = 0; b < 3; ++b) {
        AttentionProblem alone = made.problem;
        for (View AttentionProblem::* array :
             {&AttentionProblem::q, &AttentionProblem::k, &AttentionProblem::v,
              &AttentionProblem::keep, &AttentionProblem::bias, &AttentionProblem::query_segments,
              &AttentionProblem::key_segments}) {
          alone.*array = slice(made.problem.*array, 0, b, 1);
        }
        const Gradients one = gradients(alone, slice(made.grad_output, 0, b, 1), route, 2);
        EXPECT_TRUE(same_row(one.q, whole.q, b)) << route.name << " row " << b;
        EXPECT_TRUE(same_row(one.k, whole.k, b)) << route.name << " row " << b;
        EXPECT_TRUE(same_row(one.v, whole.v, b)) << route.name << " row " << b;
        EXPECT_TRUE(same_row(one.bias, whole.bias, b)) << route.name << " row " << b;
      }
    }
  }
}

// Asked for alone, a gradient has the bits that it has among the others, and nothing else is made.
TEST(GradientBits, DoNotDependOnWhatElseIsAskedFor) {
  const Made made = make(busy(DType::float32, 9));
  using Request = AttentionGradientRequest;
  const std::vector<bool Request::*> flags = {&Request::q,
                                              &Request::k,
                                              &Request::v,
                                              &Request::bias,
                                              &Request::slopes,
                                              &Request::bias_table,
                                              &Request::bucket_table,
                                              &Request::sinks};
  using Result = AttentionGradientResult;
  const std::vector<Tensor Result::*> results = {&Result::q,
                                                 &Result::k,
                                                 &Result::v,
                                                 &Result::bias,
                                                 &Result::slopes,
                                                 &Result::bias_table,
                                                 &Result::bucket_table,
                                                 &Result::sinks};
  for (const Route& route : gradient_routes()) {
    const Answer saved = answer(made.problem, route);
    const AttentionSaved views{.output = saved.output.view(), .lse = saved.lse.view()};
    const SimdScope scope(route.simd.empty() ? "best" : route.simd);
    const AttentionOptions options{.path = route.path, .threads = 2};
    const Result all = attend_backward(made.problem, views, made.grad_output, Request{}, options);
    for (std::size_t n = 0; n < flags.size(); ++n) {
      Request only{false, false, false, false, false, false, false, false};
      only.*flags[n] = true;
      const Result one = attend_backward(made.problem, views, made.grad_output, only, options);
      for (std::size_t other = 0; other < flags.size(); ++other) {
        EXPECT_EQ(static_cast<bool>(one.*results[other]), other == n);
      }
      EXPECT_TRUE(same_row(one.*results[n], all.*results[n], 0)) << route.name << " array " << n;
    }
  }
}

TEST(GradientBits, AreTheSameWhenSeveralThreadsCall) {
  const Made made = make(busy(DType::float32, 11));
  for (const Route& route : gradient_routes()) {
    const Gradients right = gradients(made.problem, made.grad_output, route, 2);
    const Answer saved = answer(made.problem, route);
    const SimdScope scope(route.simd.empty() ? "best" : route.simd);
    std::array<bool, 4> same{};
    std::vector<std::thread> callers;
    for (bool& all_same : same) {
      callers.emplace_back([&] {
        all_same = true;
        for (int call = 0; call < 4; ++call) {
          const AttentionGradientResult ours = attend_backward(
              made.problem, {.output = saved.output.view(), .lse = saved.lse.view()},
              made.grad_output, AttentionGradientRequest{}, {.path = route.path, .threads = 3});
          all_same = all_same && same_row(ours.q, right.q, 0) && same_row(ours.k, right.k, 0) &&
                     same_row(ours.bias, right.bias, 0) && same_row(ours.sinks, right.sinks, 0);
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    for (const bool all_same : same) EXPECT_TRUE(all_same) << route.name;
  }
}

}  // namespace
}  // namespace volvelle::testing
