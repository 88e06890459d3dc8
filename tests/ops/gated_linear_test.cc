#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "support/arrays.h"
#include "support/golden_arrays.h"
#include "support/gradient_check.h"
#include "support/instruction_sets.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/linear_variable.h"

namespace volvelle {
namespace {

using testing::expect_gradients;
using testing::GoldenArrays;
using testing::normal_input;

constexpr Activation kActivations[] = {Activation::none, Activation::relu, Activation::gelu,
                                       Activation::gelu_tanh, Activation::silu};

Variable gated(const std::vector<Variable>& in, Activation activation) {
  return gated_linear(in[0], in[1], in[2], in[3], in[4], {.activation = activation});
}

TEST(GatedLinear, GradientsAreTheDifferences) {
  for (const Activation activation : kActivations) {
    SCOPED_TRACE(name_of(activation));
    const std::vector<std::vector<Shape>> sizes{{{2, 3, 7}, {5, 7}, {5, 7}, {5}, {5}},
                                                {{3, 33}, {34, 33}, {34, 33}, {34}, {34}}};
    for (const std::vector<Shape>& shapes : sizes) {
      std::vector<Tensor> inputs;
      for (std::size_t i = 0; i < 5; ++i) inputs.push_back(normal_input(shapes[i], 3 + i));
      expect_gradients([&](const std::vector<Variable>& in) { return gated(in, activation); },
                       inputs);
      inputs.resize(3);
      expect_gradients(
          [&](const std::vector<Variable>& in) {
            return gated_linear(in[0], in[1], in[2], {}, {}, {.activation = activation});
          },
          inputs);
    }
  }
}

TEST(GatedLinear, TheSameVariableInSeveralPlaces) {
  expect_gradients(
      [](const std::vector<Variable>& in) { return gated_linear(in[0], in[0], in[0]); },
      {normal_input({4, 4}, 1)});
}

class GatedLinearSimd : public testing::OnEveryInstructionSet {};

TEST_P(GatedLinearSimd, IsPyTorchsForwardAndBackward) {
  const GoldenArrays golden("products/products.npz");
  for (const DType dtype : {DType::float64, DType::float32}) {
    for (const Activation activation : kActivations) {
      const std::string name = "gated_" + std::string(name_of(activation));
      SCOPED_TRACE(name + " " + std::string(name_of(dtype)));
      std::vector<Variable> in;
      for (const char* input : {"x", "gate", "up", "gate_bias", "up_bias"}) {
        in.emplace_back(golden.get("gated." + std::string(input), dtype), true);
      }
      const Variable y = gated(in, activation);
      backward(y, golden.get("gated.grad_y", dtype).view());
      EXPECT_EQ(golden.difference(name + ".y", y.view()), "");
      EXPECT_EQ(golden.difference(name + ".grad_x", in[0].grad().view()), "");
      EXPECT_EQ(golden.difference(name + ".grad_gate", in[1].grad().view()), "");
      EXPECT_EQ(golden.difference(name + ".grad_up", in[2].grad().view()), "");
      EXPECT_EQ(golden.difference(name + ".grad_gate_bias", in[3].grad().view()), "");
      EXPECT_EQ(golden.difference(name + ".grad_up_bias", in[4].grad().view()), "");
    }
  }
  // Control: gate and up are told apart.
  const Tensor other = golden.get("gated_silu.grad_gate", DType::float64);
  EXPECT_NE(golden.difference("gated_silu.grad_up", other.view()), "");
}

TEST_P(GatedLinearSimd, FloatGradientsAreTheDifferences) {
  std::vector<Tensor> inputs;
  for (const Shape& shape : {Shape{5, 9}, Shape{6, 9}, Shape{6, 9}, Shape{6}, Shape{6}}) {
    inputs.push_back(normal_input(shape, 5 + inputs.size()));
  }
  for (const Activation activation : kActivations) {
    expect_gradients([&](const std::vector<Variable>& in) { return gated(in, activation); }, inputs,
                     {.dtype = DType::float32});
  }
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Ops, GatedLinearSimd);

Variable normal(const Shape& shape, std::uint64_t seed, DType dtype = DType::float32) {
  return Variable(converted(normal_input(shape, seed).view(), dtype), true);
}

TEST(GatedLinear, BitsDoNotDependOnThreads) {
  const Tensor grad_y = converted(normal_input({300, 130}, 9).view(), DType::float32);
  std::vector<Tensor> first;
  for (const int threads : {1, 2, 8}) {
    Variable x = normal({300, 70}, 1), gate = normal({130, 70}, 2), up = normal({130, 70}, 3);
    const Variable y = gated_linear(x, gate, up, {}, {}, {.threads = threads});
    backward(y, grad_y.view());
    const std::vector<Tensor> all{y.value(), x.grad(), gate.grad(), up.grad()};
    if (first.empty()) first = all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(std::memcmp(all[i].raw(), first[i].raw(), all[i].bytes()), 0) << i << threads;
    }
  }
}

// What is kept packed belongs to both: a change of either, or another partner, is noticed.
TEST(GatedLinear, ThePackingFollowsBothWeights) {
  Variable x = normal({2, 3}, 1), gate = normal({4, 3}, 2), up = normal({4, 3}, 3);
  const auto values = [&](const Variable& by) {
    return testing::values_of(
        gated_linear(x, gate, by, {}, {}, {.activation = Activation::none}).view());
  };
  const std::vector<double> before = values(up);
  for (Variable* changed : {&gate, &up}) {
    float* const numbers = static_cast<float*>(changed->change().data());
    for (int i = 0; i < 12; ++i) numbers[i] *= 2;
  }
  std::vector<double> after = values(up);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], 4 * before[i]);
  Variable other = normal({4, 3}, 4);
  EXPECT_NE(values(other), after);
}

TEST(GatedLinear, BadInput) {
  const Variable x = normal({3, 4}, 1), w = normal({5, 4}, 2), b = normal({5}, 3);
  const auto refused = [](const std::function<void()>& run, const std::string& message) {
    try {
      run();
      ADD_FAILURE() << "nothing was thrown; expected: " << message;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  };
  refused([&] { gated_linear({}, w, w); }, "[gated_linear] x is missing");
  refused([&] { gated_linear(x, {}, w); }, "[gated_linear] gate is missing");
  refused([&] { gated_linear(x, w, {}); }, "[gated_linear] up is missing");
  refused([&] { gated_linear(x, w, b); }, "up (5,) must have shape (N,K)");
  refused([&] { gated_linear(x, w, normal({6, 4}, 1)); }, "gate (5,4) and up (6,4) must have");
  refused([&] { gated_linear(x, w, normal({5, 4}, 1, DType::bfloat16)); },
          "gate is float32 and up is bfloat16");
  refused([&] { gated_linear(normal({3, 5}, 1), w, w); }, "x (3,5) must end in K = 4");
  refused([&] { gated_linear(x, w, w, normal({4}, 1)); }, "gate_bias (4,) must have shape (N)");
  refused([&] { gated_linear(x, w, w, b, normal({4}, 1)); }, "up_bias (4,) must have shape (N)");
  refused([&] { gated_linear(x, w, w, b, b, {.compute = DType::int8}); }, "compute is int8");
  refused([&] { gated_linear(x, w, w, b, b, {.activation = static_cast<Activation>(77)}); },
          "activation 77 is none of");
  refused([&] { gated_linear(normal({3, 4}, 1, DType::float64), w, w); }, "float64 meets only");
}

}  // namespace
}  // namespace volvelle
