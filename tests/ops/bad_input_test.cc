// Every rule of the product operators, broken: who is told what, and nothing written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "volvelle/base/error.h"
#include "volvelle/ops/linear.h"
#include "volvelle/ops/linear_backward.h"
#include "volvelle/ops/matmul.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;

template <class E = InvalidArgument>
void expect_refused(const std::function<void()>& call, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "accepted; expected: " << text;
  } catch (const E& error) {
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

struct OpsBadInput : ::testing::Test {
  std::vector<float> x = std::vector<float>(12, 1), w = std::vector<float>(20, 1);
  std::vector<float> y = std::vector<float>(15, 7), more = std::vector<float>(40, 1);
  View xv{x.data(), {3, 4}}, wv{w.data(), {5, 4}};
  MutableView yv{y.data(), {3, 5}};
  PackedWeights packed{wv};

  void TearDown() override { EXPECT_EQ(y, std::vector<float>(15, 7)); }
};

TEST_F(OpsBadInput, PackedWeights) {
  const std::vector<double> d(4);
  const std::vector<std::int32_t> i(4);
  expect_refused([&] { PackedWeights p{View()}; }, "[pack weights] weights is missing");
  expect_refused([&] { PackedWeights p(View(i.data(), {2, 2})); },
                 "[pack weights] weights is int32; it must be float32, float64, bfloat16 or");
  expect_refused([&] { PackedWeights p(View(d.data(), {2, 2}), WeightFormat::float32); },
                 "weights is float64 and cannot be packed as float32");
  expect_refused([&] { PackedWeights p(wv, WeightFormat::float64); },
                 "weights is float32 and cannot be packed as float64");
  expect_refused([&] { PackedWeights p(View(w.data(), {20})); },
                 "weights (20,) must have shape (N,K)");
  expect_refused([&] { PackedWeights p(View(w.data(), {-1, 3})); }, "has a negative axis");
  expect_refused([&] { PackedWeights p(View(static_cast<const float*>(nullptr), {1, 3})); },
                 "has elements but its pointer is null");
  const std::int64_t huge = std::int64_t{1} << 40;
  expect_refused([&] { PackedWeights p(View(w.data(), {huge, 4}, {huge, 1})); },
                 "reaches beyond 63 bits of bytes");
  expect_refused([&] { PackedWeights p(View(w.data(), {huge, huge}, {0, 0})); },
                 "has more elements than 63 bits count");
  expect_refused([&] { PackedWeights p(View(w.data(), {huge, huge >> 18}, {0, 0})); },
                 "would take more than 63 bits of bytes");
  expect_refused([&] { PackedWeights::gated(wv, View(w.data(), {4, 5})); },
                 "gate (5,4) must have shape (N,K) of up = (4,5)");
  const std::vector<BFloat16> b(20);
  expect_refused([&] { PackedWeights::gated(wv, View(b.data(), {5, 4})); },
                 "gate is float32 and up bfloat16; name a format for both");
  expect_refused([&] { PackedWeights p(wv, {.threads = -1}); }, "[threads] -1");
}

TEST_F(OpsBadInput, MemoryThatCannotBeHadNamesItsSize) {
  const std::int64_t many = std::int64_t{1} << 27;
  expect_refused<IoError>([&] { PackedWeights p(View(w.data(), {many, many}, {0, 0})); },
                          "[pack weights] no room for 72057594037927936 bytes of float32 weights "
                          "(134217728,134217728)");
}

TEST_F(OpsBadInput, LinearShapes) {
  expect_refused([&] { linear(xv, PackedWeights(), yv); },
                 "[linear] weights are missing: pack them first");
  expect_refused([&] { linear(View(), packed, yv); }, "x is missing");
  expect_refused([&] { linear(xv, packed, MutableView()); }, "y is missing");
  expect_refused([&] { linear(View(x.data(), {4, 3}), packed, yv); },
                 "x (4,3) must end in K = 4, the inputs of weights (5,4)");
  expect_refused([&] { linear(View(x.data(), {}), packed, yv); }, "x () must have shape (..., K)");
  expect_refused([&] { linear(xv, packed, MutableView(y.data(), {5, 3})); },
                 "y (5,3) must have shape (..., N) = (3,5)");
  expect_refused([&] { linear(xv, packed, MutableView(y.data(), {3, 5}, {0, 1})); },
                 "would be written over itself");
  expect_refused(
      [&] { linear(View(more.data(), {3, 4}), packed, MutableView(more.data(), {3, 5})); },
      "y overlaps x in memory; give it an array of its own");
  expect_refused([&] { linear(xv, packed, yv, {.threads = 5000}); }, "[threads] 5000");
}

TEST_F(OpsBadInput, LinearOptions) {
  const View wide(more.data(), {6});
  expect_refused([&] { linear(xv, packed, yv, {.bias = wide}); },
                 "[linear] bias (6,) must have shape (N) = (5,)");
  expect_refused([&] { linear(xv, packed, yv, {.gate_bias = View(more.data(), {5})}); },
                 "gate_bias needs gated weights");
  const PackedWeights gated = PackedWeights::gated(wv, wv);
  expect_refused([&] { linear(xv, gated, yv, {.gate_bias = wide}); },
                 "gate_bias (6,) must have shape (N) = (5,)");
  expect_refused([&] { linear(xv, packed, yv, {.residual = View(more.data(), {2, 5})}); },
                 "residual (2,5) does not broadcast to y (3,5)");
  expect_refused([&] { linear(xv, packed, yv, {.residual = View(more.data(), {1, 3, 5})}); },
                 "does not broadcast");
  expect_refused([&] { linear(xv, packed, yv, {.residual = View(y.data(), {1, 5})}); },
                 "y overlaps residual");
  expect_refused([&] { linear(xv, packed, yv, {.bias = View(y.data(), {5})}); }, "y overlaps bias");
  expect_refused([&] { linear(xv, gated, yv, {.gate_bias = View(y.data(), {5})}); },
                 "y overlaps gate_bias");
  expect_refused([&] { linear(xv, packed, yv, {.activation = static_cast<Activation>(9)}); },
                 "activation 9 is none of none, relu, gelu, gelu_tanh, silu");
}

TEST_F(OpsBadInput, Matmul) {
  const View b(more.data(), {4, 5});
  expect_refused([&] { matmul(View(x.data(), {12}), b, yv); },
                 "[matmul] a (12,) must have shape (..., M, K)");
  expect_refused([&] { matmul(View(x.data(), {4, 3}), b, yv); },
                 "a (4,3) must end in (M,K) = (3,3)");
  expect_refused([&] { matmul(xv, View(more.data(), {5, 4}), yv); },
                 "b (5,4) must end in (K,N) = (4,5)");
  expect_refused([&] { matmul(xv, View(more.data(), {2, 4, 5}), yv); },
                 "the leading axes of b (2,4,5) do not broadcast to those of c (3,5)");
  expect_refused([&] { matmul(xv, b, MutableView(more.data(), {3, 5})); }, "c overlaps b");
  expect_refused([&] { matmul(View(y.data(), {3, 4}), b, yv); }, "c overlaps a");
  std::vector<std::int32_t> ints(12);
  expect_refused([&] { matmul(View(ints.data(), {3, 4}), b, yv); }, "a is int32");
}

TEST_F(OpsBadInput, LinearBackward) {
  std::vector<float> dx(12);
  const View dy(more.data(), {3, 5});
  const MutableView dxv(dx.data(), {3, 4});
  expect_refused([&] { linear_backward_input(dy, PackedWeights(), dxv); },
                 "[linear_backward_input] weights are missing");
  expect_refused([&] { linear_backward_input(dy, PackedWeights::gated(wv, wv), dxv); },
                 "weights are gated");
  expect_refused([&] { linear_backward_input(xv, packed, dxv); },
                 "grad_y (3,4) must have shape (..., N) = (3,5)");
  expect_refused([&] { linear_backward_input(dy, View(w.data(), {20}), dxv); },
                 "weights (20,) must have shape (N,K)");
  expect_refused([&] { linear_backward_input(dy, packed, yv); },
                 "grad_x (3,5) must have shape (..., K) = (3,4)");
  expect_refused([&] { linear_backward_input(dy, wv, MutableView(w.data(), {3, 4})); },
                 "grad_x overlaps weights");
  expect_refused([&] { linear_backward_weights(dy, View(x.data(), {2, 4}), yv); },
                 "[linear_backward_weights] grad_y (3,5) must have shape (..., N) = (2,5)");
  expect_refused([&] { linear_backward_weights(dy, xv, yv); },
                 "grad_weights (3,5) must have shape (N,K) = (5,4)");
  expect_refused([&] { linear_backward_bias(dy, MutableView(dx.data(), {4})); },
                 "[linear_backward_bias] grad_bias (4,) must have shape (N) = (5,)");
  expect_refused([&] { linear_backward_bias(dy, MutableView(more.data(), {5})); },
                 "grad_bias overlaps grad_y");
}

TEST_F(OpsBadInput, Float64MeetsOnlyFloat64) {
  const std::vector<double> d(20);
  std::vector<double> out(20);
  const View dx(d.data(), {3, 4}), dw(d.data(), {5, 4}), dy(d.data(), {3, 5});
  const PackedWeights wide(dw);
  const MutableView wide_y(out.data(), {3, 5});
  const std::string rule = "float64 meets only float64: convert one of them";
  expect_refused([&] { linear(dx, packed, wide_y); },
                 "weights are float32 and x is float64; " + rule);
  expect_refused([&] { linear(xv, wide, yv); }, "weights are float64 and x is float32; " + rule);
  expect_refused([&] { linear(dx, wide, yv); }, "y is float32 and x is float64; " + rule);
  const View narrow(more.data(), {5});
  expect_refused([&] { linear(dx, wide, wide_y, {.bias = narrow}); },
                 "bias is float32 and y is float64; " + rule);
  expect_refused([&] { linear(dx, wide, wide_y, {.residual = View(more.data(), {3, 5})}); },
                 "residual is float32 and y is float64; " + rule);
  expect_refused([&] { matmul(dx, View(more.data(), {4, 5}), yv); }, rule);
  expect_refused([&] { matmul(xv, View(more.data(), {4, 5}), wide_y); }, rule);
  expect_refused([&] { linear_backward_input(dy, packed, MutableView(out.data(), {3, 4})); }, rule);
  expect_refused([&] { linear_backward_input(dy, wv, MutableView(out.data(), {3, 4})); }, rule);
  expect_refused([&] { linear_backward_input(dy, wide, MutableView(more.data(), {3, 4})); }, rule);
  expect_refused([&] { linear_backward_weights(dy, xv, MutableView(out.data(), {5, 4})); }, rule);
  expect_refused([&] { linear_backward_weights(dy, dx, MutableView(more.data(), {5, 4})); }, rule);
  expect_refused([&] { linear_backward_bias(dy, MutableView(more.data(), {5})); }, rule);
}

TEST_F(OpsBadInput, WhatIsKeptBeforeTheActivation) {
  std::vector<float> kept(20);
  const MutableView good(kept.data(), {3, 5});
  expect_refused([&] { linear(xv, packed, yv, {.before_activation = {kept.data(), {3, 4}}}); },
                 "before_activation (3,4) must have the dtype, shape and strides of y (3,5)");
  expect_refused(
      [&] { linear(xv, packed, yv, {.before_activation = {kept.data(), {3, 5}, {1, 3}}}); },
      "must have the dtype, shape and strides of y");
  expect_refused([&] { linear(xv, packed, yv, {.before_activation = yv}); },
                 "before_activation overlaps y");
  expect_refused([&] { linear(xv, packed, yv, {.before_activation = {x.data(), {3, 5}}}); },
                 "before_activation overlaps x");
  expect_refused([&] { linear(xv, packed, yv, {.gate_before_activation = good}); },
                 "gate_before_activation needs gated weights");
  expect_refused(
      [&] {
        linear(xv, PackedWeights::gated(wv, wv), yv,
               {.before_activation = good, .gate_before_activation = good});
      },
      "before_activation overlaps gate_before_activation");
}

}  // namespace
}  // namespace volvelle
