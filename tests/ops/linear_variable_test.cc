#include "volvelle/ops/linear_variable.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/random_numbers.h"
#include "ops/kept_packings.h"
#include "support/arrays.h"
#include "support/golden_arrays.h"
#include "support/gradient_check.h"
#include "support/instruction_sets.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/autograd/recompute.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/sums.h"

namespace volvelle {
namespace {

using testing::expect_gradients;
using testing::filled;
using testing::GoldenArrays;
using testing::normal_input;
using testing::values_of;

constexpr Activation kActivations[] = {Activation::none, Activation::relu, Activation::gelu,
                                       Activation::gelu_tanh, Activation::silu};

Variable with_residual(const std::vector<Variable>& in, Activation activation) {
  return linear(in[0], in[1], in[2], {.activation = activation, .residual = in[3]});
}

TEST(LinearVariable, GradientsAreTheDifferences) {
  for (const Activation activation : kActivations) {
    SCOPED_TRACE(name_of(activation));
    // Odd sizes; rows in two axes; one past a panel of 32; a single row; one element.
    std::vector<std::vector<Shape>> sizes{{{2, 3, 7}, {5, 7}, {5}, {2, 3, 5}},
                                          {{3, 33}, {34, 33}, {34}, {3, 34}}};
    if (activation != Activation::relu) {  // of so few, all may be cut off: no control could fail
      sizes.push_back({{4}, {3, 4}, {3}, {3}});
      sizes.push_back({{1, 1}, {1, 1}, {1}, {1, 1}});
    }
    for (const std::vector<Shape>& shapes : sizes) {
      std::vector<Tensor> inputs;
      for (std::size_t i = 0; i < 4; ++i) inputs.push_back(normal_input(shapes[i], 3 + i));
      expect_gradients(
          [&](const std::vector<Variable>& in) { return with_residual(in, activation); }, inputs);
      inputs.resize(3);
      expect_gradients(
          [&](const std::vector<Variable>& in) {
            return linear(in[0], in[1], in[2], {.activation = activation});
          },
          inputs);
    }
  }
}

TEST(LinearVariable, TheSameVariableInTwoPlaces) {
  expect_gradients([](const std::vector<Variable>& in) { return linear(in[0], in[0]); },
                   {normal_input({4, 4}, 1)});
  expect_gradients(
      [](const std::vector<Variable>& in) {
        return linear(in[0], in[1], {}, {.activation = Activation::silu, .residual = in[0]});
      },
      {normal_input({3, 5}, 1), normal_input({5, 5}, 2)});
}

class LinearVariableSimd : public testing::OnEveryInstructionSet {};

TEST_P(LinearVariableSimd, FloatGradientsAreTheDifferences) {
  for (const Activation activation : kActivations) {
    expect_gradients([&](const std::vector<Variable>& in) { return with_residual(in, activation); },
                     {normal_input({5, 9}, 1), normal_input({6, 9}, 2), normal_input({6}, 3),
                      normal_input({5, 6}, 4)},
                     {.dtype = DType::float32});
  }
}

TEST_P(LinearVariableSimd, IsPyTorchsForwardAndBackward) {
  const GoldenArrays golden("products/products.npz");
  for (const DType dtype : {DType::float64, DType::float32}) {
    for (const Activation activation : kActivations) {
      const std::string name = "linear_" + std::string(name_of(activation));
      SCOPED_TRACE(name + " " + std::string(name_of(dtype)));
      std::vector<Variable> in;
      for (const char* input : {"x", "weight", "bias", "residual"}) {
        in.emplace_back(golden.get("linear." + std::string(input), dtype), true);
      }
      const Variable y = with_residual(in, activation);
      backward(y, golden.get("linear.grad_y", dtype).view());
      EXPECT_EQ(golden.difference(name + ".y", y.view()), "");
      EXPECT_EQ(golden.difference(name + ".grad_x", in[0].grad().view()), "");
      EXPECT_EQ(golden.difference(name + ".grad_weight", in[1].grad().view()), "");
      EXPECT_EQ(golden.difference(name + ".grad_bias", in[2].grad().view()), "");
      EXPECT_EQ(golden.difference(name + ".grad_residual", in[3].grad().view()), "");
    }
  }
  // Control: the two forms of gelu are told apart.
  const Tensor other = golden.get("linear_gelu.grad_x", DType::float64);
  EXPECT_NE(golden.difference("linear_gelu_tanh.grad_x", other.view()), "");
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Ops, LinearVariableSimd);

Variable normal(const Shape& shape, std::uint64_t seed, DType dtype = DType::float32) {
  return Variable(converted(normal_input(shape, seed).view(), dtype), true);
}

TEST(LinearVariable, BitsDoNotDependOnThreads) {
  const Tensor grad_y = converted(normal_input({300, 130}, 9).view(), DType::float32);
  std::vector<Tensor> first;
  for (const int threads : {1, 2, 8}) {
    Variable x = normal({300, 70}, 1), w = normal({130, 70}, 2), b = normal({130}, 3);
    const Variable y = linear(x, w, b, {.activation = Activation::gelu_tanh, .threads = threads});
    backward(y, grad_y.view());
    const std::vector<Tensor> all{y.value(), x.grad(), w.grad(), b.grad()};
    if (first.empty()) first = all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(std::memcmp(all[i].raw(), first[i].raw(), all[i].bytes()), 0) << i << threads;
    }
  }
}

TEST(LinearVariable, ComputesNoGradientThatNobodyWants) {
  const Variable x = normal({3, 4}, 1);
  Variable fixed_x = normal({3, 4}, 1), w = normal({5, 4}, 2), b = normal({5}, 3);
  fixed_x.set_requires_grad(false);
  b.set_requires_grad(false);
  const Tensor ones = filled(DType::float32, {3, 5}, [] { return 1; });
  backward(linear(fixed_x, w, b), ones.view());
  EXPECT_FALSE(fixed_x.grad());
  EXPECT_FALSE(b.grad());
  EXPECT_TRUE(w.grad());
  w.clear_grad();
  w.set_requires_grad(false);
  // Without a gradient for the weight the input is not looked at again, so it may change.
  Variable changing = normal({3, 4}, 1);
  const Variable y = linear(changing, w, b);
  changing.change();
  backward(y, ones.view());
  EXPECT_TRUE(changing.grad());
  EXPECT_FALSE(w.grad());
}

TEST(LinearVariable, AddsToGradientsThatAreThere) {
  Variable x = normal({3, 4}, 1), w = normal({5, 4}, 2), b = normal({5}, 3);
  const Tensor flat(DType::float32, {20});
  w.bind_grad(flat.reshaped({5, 4}));
  const Tensor ones = filled(DType::float32, {3, 5}, [] { return 1; });
  backward(linear(x, w, b), ones.view());
  const std::vector<double> once = values_of(w.grad().view()), bias = values_of(b.grad().view());
  backward(linear(x, w, b), ones.view());
  EXPECT_EQ(w.grad().raw(), flat.raw());
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(values_of(flat.view())[i], 2 * once[i]);
  }
  for (std::size_t i = 0; i < bias.size(); ++i) {
    EXPECT_EQ(values_of(b.grad().view())[i], 2 * bias[i]);
  }
}

TEST(LinearVariable, KeepsThePackingUntilTheWeightChanges) {
  Variable x = normal({2, 3}, 1), w = normal({4, 3}, 2);
  const auto before = values_of(linear(x, w).view());
  const auto* kept = packed_once(w, WeightFormat::float32, 1).storage();
  linear(x, w);
  EXPECT_EQ(packed_once(w, WeightFormat::float32, 1).storage(), kept);
  // Another format is kept beside it.
  packed_once(w, WeightFormat::bfloat16, 1);
  EXPECT_EQ(packed_once(w, WeightFormat::float32, 1).storage(), kept);
  float* const numbers = static_cast<float*>(w.change().data());
  for (int i = 0; i < 12; ++i) numbers[i] *= 2;
  const auto after = values_of(linear(x, w).view());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], 2 * before[i]);
}

TEST(LinearVariable, KeepsNoLargePackingOfAWeightInTraining) {
  Variable x = normal({2, 300}, 1), w = normal({300, 300}, 2);
  backward(sum(linear(x, w)));
  EXPECT_FALSE(w.derived());
  const NoGrad off;
  linear(x, w);
  EXPECT_TRUE(w.derived());
}

void expect_error(const std::function<void()>& run, const std::string& message) {
  try {
    run();
    ADD_FAILURE() << "nothing was thrown; expected: " << message;
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
}

TEST(LinearVariable, KeepsNoLargePackingWhereItWillBeComputedAgain) {
  const Variable x(testing::normal_floats({2, 300}, 1));
  const Variable weight(testing::normal_floats({300, 300}, 2), true);
  const Variable y =
      recompute([&](const std::vector<Variable>& in) { return linear(in[0], weight); }, {x});
  EXPECT_EQ(weight.derived(), nullptr);
  backward(mean(y));
  EXPECT_EQ(weight.derived(), nullptr);
}

TEST(LinearVariable, TheResidualAloneMayWantAGradient) {
  const Variable x(testing::normal_floats({2, 3}, 1));
  const Variable weight(testing::normal_floats({4, 3}, 2));
  const Variable residual(testing::normal_floats({2, 4}, 3), true);
  for (const Activation activation : {Activation::relu, Activation::gelu}) {
    Variable asked = residual;
    asked.clear_grad();
    backward(sum(linear(x, weight, {}, {.activation = activation, .residual = residual})));
    EXPECT_EQ(values_of(residual.grad().view()), std::vector<double>(8, 1.0));
  }
}

TEST(LinearVariable, AResidualOfAnotherDtypeGetsAGradientInItsOwn) {
  const Variable x(converted(testing::normal_floats({2, 3}, 1).view(), DType::bfloat16), true);
  const Variable weight(testing::normal_floats({4, 3}, 2), true);
  const Variable residual(testing::normal_floats({2, 4}, 3), true);
  const Variable y = linear(x, weight, {}, {.residual = residual});
  EXPECT_EQ(y.dtype(), DType::bfloat16);
  backward(sum(y));
  EXPECT_EQ(residual.grad().dtype(), DType::float32);
  EXPECT_EQ(values_of(residual.grad().view()), std::vector<double>(8, 1.0));
}

TEST(LinearVariable, RefusesToGoBackOverChangedNumbers) {
  const Tensor ones = filled(DType::float32, {3, 5}, [] { return 1; });
  Variable x = normal({3, 4}, 1), w = normal({5, 4}, 2);
  Variable y = linear(x, w);
  x.change();
  expect_error([&] { backward(y, ones.view()); }, "(3,4) was changed in place after linear");
  y = linear(x, w);
  w.change();
  expect_error([&] { backward(y, ones.view()); }, "(5,4) was changed in place after linear");
  y = linear(x, w, {}, {.activation = Activation::relu});
  y.change();
  expect_error([&] { backward(y, ones.view()); }, "the result of linear was changed in place");
  y = linear(x, w, {}, {.activation = Activation::gelu});  // does not need its result
  y.change();
  backward(y, ones.view());
}

TEST(LinearVariable, BadInput) {
  const Variable x = normal({3, 4}, 1), w = normal({5, 4}, 2), b = normal({5}, 3);
  const auto refused = [](const Variable& in, const Variable& weight, const Variable& bias,
                          const LinearVariableOptions& options, const std::string& message) {
    expect_error([&] { linear(in, weight, bias, options); }, message);
  };
  refused({}, w, b, {}, "[linear] x is missing");
  refused(x, {}, b, {}, "[linear] weight is missing");
  refused(x, b, b, {}, "[linear] weight (5,) must have shape (N,K)");
  refused(normal({3, 6}, 1), w, b, {}, "[linear] x (3,6) must end in K = 4");
  refused(Variable(Tensor(DType::float32, {})), w, b, {}, "x () must have shape (..., K)");
  refused(x, w, normal({4}, 1), {}, "bias (4,) must have shape (N) = (5,)");
  refused(x, w, b, {.residual = normal({3, 4}, 1)}, "residual (3,4) must have shape (..., N) of y");
  refused(x, w, b, {.activation = static_cast<Activation>(99)}, "activation 99 is none of");
  refused(x, w, b, {.threads = -1}, "threads");
  refused(x, normal({5, 4}, 2, DType::float64), b, {}, "float64 meets only float64");
  refused(x, w, normal({5}, 1, DType::float64), {}, "float64 meets only float64");
  refused(x, w, b, {.dtype = DType::float64}, "float64 meets only float64");
  refused(x, w, b, {.compute = DType::float64}, "cannot be packed as float64");
  refused(x, w, b, {.compute = DType::int8}, "compute is int8; it must be");
  refused(x, w, b, {.dtype = DType::int32}, "y is int32; it must be");
  refused(Variable(Tensor(DType::int64, {3, 4})), w, b, {}, "x is int64; it must be");
}

}  // namespace
}  // namespace volvelle
