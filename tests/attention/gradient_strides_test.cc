// Gradients through any strides: of what goes back, and of where they are written.
#include <gtest/gtest.h>

#include <cstring>

#include "support/gradients.h"
#include "support/reservation.h"

namespace volvelle::testing {
namespace {

Recipe medium() {
  Recipe recipe;
  recipe.batch = recipe.key_heads = recipe.group = 2;
  recipe.queries = 35;
  recipe.keys = 47;
  recipe.width = 6;
  recipe.value_width = 9;
  recipe.causal = true;
  recipe.bias = Span::per_head;
  return recipe;
}

// Calls back with q, k, v, bias gradients into these arrays.
void backward_into(const Made& made, const Route& route, const View& grad_output,
                   const AttentionGradients& into) {
  const Answer saved = answer(made.problem, route);
  const LaidOut output = laid_out(saved.output, Layout::bthd);
  const LaidOut lse = laid_out(saved.lse, Layout::gapped);
  const SimdScope scope(route.simd.empty() ? "best" : route.simd);
  attend_backward(made.problem, {.output = output.view, .lse = lse.view}, grad_output, into,
                  {.path = route.path});
}

TEST(GradientStrides, GradientsMayBeStrided) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    Recipe recipe = medium();
    recipe.dtype = dtype;
    const Made made = make(recipe);
    for (const Route& route : gradient_routes()) {
      const Gradients right = gradients(made.problem, made.grad_output, route);
      for (const Layout layout : {Layout::bthd, Layout::fused, Layout::reversed, Layout::gapped}) {
        LaidOut q = laid_out(right.q, layout), k = laid_out(right.k, layout);
        LaidOut v = laid_out(right.v, layout), bias = laid_out(right.bias, layout);
        for (LaidOut* each : {&q, &k, &v, &bias}) {
          std::memset(each->memory.raw(), 0x7B, each->memory.bytes());
        }
        backward_into(made, route, made.grad_output,
                      {.q = q.writable, .k = k.writable, .v = v.writable, .bias = bias.writable});
        EXPECT_EQ(values_of(q.view), values_of(right.q.view())) << route.name;
        EXPECT_EQ(values_of(k.view), values_of(right.k.view())) << route.name;
        EXPECT_EQ(values_of(v.view), values_of(right.v.view())) << route.name;
        EXPECT_EQ(values_of(bias.view), values_of(right.bias.view())) << route.name;
        for (LaidOut* each : {&q, &k, &v}) {  // what lies between is not touched
          const std::size_t size = size_of(dtype);
          const auto* bytes = static_cast<const unsigned char*>(each->memory.raw());
          std::int64_t touched = 0;
          for (std::size_t n = 0; n < each->memory.bytes(); n += size) {
            bool same = true;
            for (std::size_t byte = 0; byte < size; ++byte) same &= bytes[n + byte] == 0x7B;
            touched += !same;
          }
          EXPECT_LE(touched, element_count(each->view.shape())) << route.name;
        }
      }
    }
  }
}

// What goes back in another layout, another dtype, or as one number seen everywhere.
TEST(GradientStrides, WhatGoesBackMayBeStrided) {
  const Made made = make(medium());
  const Tensor dense = copy_of(made.grad_output);
  for (const Route& route : gradient_routes()) {
    const Gradients right = gradients(made.problem, made.grad_output, route);
    for (const Layout layout : {Layout::bthd, Layout::fused, Layout::reversed, Layout::gapped}) {
      const LaidOut grad = laid_out(dense, layout);
      EXPECT_EQ(bit_difference(gradients(made.problem, grad.view, route), right), "") << route.name;
    }
    const Tensor wide = converted(dense.view(), DType::float64);
    EXPECT_EQ(bit_difference(gradients(made.problem, wide.view(), route), right), "") << route.name;
    const Tensor ones = filled(DType::float32, dense.shape(), [] { return 1.0; });
    const float one = 1;
    const View everywhere(&one, dense.shape(), {0, 0, 0, 0});
    EXPECT_EQ(bit_difference(gradients(made.problem, everywhere, route),
                             gradients(made.problem, ones.view(), route)),
              "")
        << route.name;
  }
}

// Inputs whose strides are 0: the gradient is of the shape given, an element for each place.
TEST(GradientStrides, ABroadcastViewHasAGradientForEachOfItsPlaces) {
  Recipe recipe = medium();
  recipe.bias = Span::none;
  Made made = make(recipe);
  const Tensor row = filled(DType::float32, {47}, [] { return 0.25; });
  const Tensor full = filled(DType::float32, {2, 4, 35, 47}, [] { return 0.25; });
  AttentionProblem broadcast = made.problem;
  broadcast.bias = View(row.data<float>(), {2, 4, 35, 47}, {0, 0, 0, 1});
  AttentionProblem dense = made.problem;
  dense.bias = full.view();
  for (const Route& route : gradient_routes()) {
    EXPECT_EQ(bit_difference(gradients(broadcast, made.grad_output, route),
                             gradients(dense, made.grad_output, route)),
              "")
        << route.name;
  }
}

// Token strides beyond 2^31 elements over a few pages of data, in all that is read and written.
TEST(GradientStrides, BeyondThirtyTwoBits) {
  constexpr std::int64_t kStride = (std::int64_t{1} << 31) + 17;
  constexpr std::int64_t kTokens = 3;
  Recipe recipe;
  recipe.queries = recipe.keys = kTokens;
  recipe.width = recipe.value_width = 8;
  recipe.causal = true;
  const Made small = make(recipe);
  const Reservation memory(static_cast<std::size_t>(kStride) * 4 * (kTokens + 1));
  if (!memory) GTEST_SKIP() << "32 GiB of address space are not to be had";
  std::int64_t next = 0;
  const auto place = [&](std::int64_t stride) {
    const std::int64_t first = next + (stride < 0 ? (kTokens - 1) * kStride : 0);
    next += 16;
    return MutableView(memory.floats() + first, {1, 1, kTokens, 8}, {0, 0, stride, 1});
  };
  const auto spread = [&](const View& from, std::int64_t stride) {
    const MutableView to = place(stride);
    for (std::int64_t i = 0; i < kTokens; ++i) {
      std::memcpy(static_cast<float*>(to.data()) + i * stride,
                  static_cast<const float*>(from.data()) + i * 8, 32);
    }
    return to;
  };
  AttentionProblem huge = small.problem;
  huge.q = spread(small.problem.q, kStride);
  huge.k = spread(small.problem.k, kStride);
  huge.v = spread(small.problem.v, -kStride);
  const View grad = spread(small.grad_output, kStride);
  const AttentionGradients into{.q = place(kStride), .k = place(-kStride), .v = place(kStride)};
  for (const Route& route : gradient_routes()) {
    const Gradients right = gradients(small.problem, small.grad_output, route);
    const Answer saved = answer(small.problem, route);
    const View output = spread(saved.output.view(), kStride);
    const SimdScope scope(route.simd.empty() ? "best" : route.simd);
    attend_backward(huge, {.output = output, .lse = saved.lse.view()}, grad, into,
                    {.path = route.path});
    EXPECT_EQ(values_of(into.q), values_of(right.q.view())) << route.name;
    EXPECT_EQ(values_of(into.k), values_of(right.k.view())) << route.name;
    EXPECT_EQ(values_of(into.v), values_of(right.v.view())) << route.name;
  }
}

}  // namespace
}  // namespace volvelle::testing
