#include "volvelle/ops/activate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/random_numbers.h"
#include "kernels/activation_double.h"
#include "ops/curve.h"
#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/instruction_sets.h"
#include "support/products.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"

namespace volvelle {
namespace {

using testing::filled;
using testing::listed;
using testing::product_difference;
using testing::values_of;

class Activate : public testing::OnEveryInstructionSet {};

constexpr Activation kActivations[] = {Activation::relu, Activation::gelu, Activation::gelu_tanh,
                                       Activation::silu};

double formula(Activation activation, double x) {
  switch (activation) {
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::gelu:
      return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh:
      return x * 0.5 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::none:
      break;
  }
  return x;
}

double slope(Activation activation, double x) {
  return kernels::activation_slope(curve_of(activation, OperatorChecks("test")), x);
}

Tensor normal(DType dtype, const Shape& shape, RandomNumbers& random, double spread = 2) {
  return filled(dtype, shape, [&] { return spread * random.normal(); });
}

// One past and short of vectors, pieces (1,024) and chunks (32,768).
const std::vector<std::int64_t> kCounts{1, 3, 15, 16, 17, 1023, 1025, 32769};

TEST_P(Activate, AgreesWithTheFormulaForwardAndBack) {
  RandomNumbers random(1);
  for (const Activation activation : kActivations) {
    for (const std::int64_t count : kCounts) {
      for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64}) {
        const Variable x(normal(dtype, {count}, random), true);
        const Tensor grad = normal(dtype, {count}, random, 1);
        const Variable y = activate(x, activation);
        backward(y, grad.view());
        const std::vector<double> in = values_of(x.view()), g = values_of(grad.view());
        std::vector<double> right, right_grad, terms, grad_terms;
        for (std::size_t i = 0; i < in.size(); ++i) {
          right.push_back(formula(activation, in[i]));
          terms.push_back(std::fabs(in[i]));
          right_grad.push_back(slope(activation, in[i]) * g[i]);
          grad_terms.push_back(std::fabs(g[i]) * (1 + std::fabs(in[i])));
        }
        EXPECT_EQ(product_difference(y.view(), right, terms, 1), "")
            << name_of(activation) << " " << count << " " << name_of(dtype);
        EXPECT_EQ(product_difference(x.grad().view(), right_grad, grad_terms, 4), "")
            << name_of(activation) << " " << count << " " << name_of(dtype);
        right.back() += 0.05 * std::fabs(in.back());  // controls
        EXPECT_NE(product_difference(y.view(), right, terms, 1), "");
        right_grad.back() += 0.05 * grad_terms.back();
        EXPECT_NE(product_difference(x.grad().view(), right_grad, grad_terms, 4), "");
      }
    }
  }
}

TEST_P(Activate, AGateMultipliesForwardAndBack) {
  RandomNumbers random(2);
  for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu,
                                      Activation::gelu_tanh, Activation::silu}) {
    for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64}) {
      const Variable gate(normal(dtype, {7, 150}, random), true);
      const Variable up(normal(dtype, {7, 150}, random), true);
      const Tensor grad = normal(dtype, {7, 150}, random, 1);
      const Variable y = gated(gate, up, activation);
      backward(y, grad.view());
      const std::vector<double> a = values_of(gate.view()), b = values_of(up.view());
      const std::vector<double> g = values_of(grad.view());
      std::vector<double> right, by_gate, by_up, terms, gate_terms, up_terms;
      for (std::size_t i = 0; i < a.size(); ++i) {
        right.push_back(formula(activation, a[i]) * b[i]);
        terms.push_back(std::fabs(a[i] * b[i]));
        by_gate.push_back(slope(activation, a[i]) * b[i] * g[i]);
        gate_terms.push_back(std::fabs(b[i] * g[i]) * (1 + std::fabs(a[i])));
        by_up.push_back(formula(activation, a[i]) * g[i]);
        up_terms.push_back(std::fabs(a[i] * g[i]));
      }
      EXPECT_EQ(product_difference(y.view(), right, terms, 4), "") << name_of(activation);
      EXPECT_EQ(product_difference(gate.grad().view(), by_gate, gate_terms, 4), "");
      EXPECT_EQ(product_difference(up.grad().view(), by_up, up_terms, 4), "");
      // Control: the roles exchanged.
      EXPECT_NE(product_difference(up.grad().view(), by_gate, gate_terms, 4), "");
    }
  }
}

TEST_P(Activate, LimitsAreTakenAtInfinityAndNaNStays) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Activation activation : kActivations) {
    const Variable x(listed(DType::float32, {4}, {infinity, -infinity, std::nan(""), 0}), true);
    const Variable y = activate(x, activation);
    const std::vector<double> out = values_of(y.view());
    EXPECT_EQ(out[0], infinity) << name_of(activation);
    EXPECT_TRUE(std::isnan(out[2]));
    EXPECT_EQ(out[3], 0);
    backward(y, listed(DType::float32, {4}, {1, 1, 1, 1}).view());
    const std::vector<double> grad = values_of(x.grad().view());
    EXPECT_EQ(grad[0], 1);
    EXPECT_EQ(grad[1], 0);
    if (activation == Activation::relu) {
      EXPECT_EQ(grad[2], 1);  // what is not known to be at or below 0 passes
    } else {
      EXPECT_TRUE(std::isnan(grad[2]));
    }
    EXPECT_EQ(grad[3], activation == Activation::relu ? 0 : 0.5);
  }
}

TEST_P(Activate, ThreadsChangeNoBit) {
  RandomNumbers random(3);
  const Tensor numbers = normal(DType::float32, {100001}, random);
  const Tensor grad = normal(DType::float32, {100001}, random);
  std::vector<double> first;
  for (const int threads : {1, 2, 8}) {
    const ThreadScope scope(threads);
    const Variable x(numbers, true), up(numbers, true);
    backward(activate(x, Activation::gelu), grad.view());
    backward(gated(x, up, Activation::silu), grad.view());
    std::vector<double> all = values_of(x.grad().view());
    const std::vector<double> more = values_of(up.grad().view());
    all.insert(all.end(), more.begin(), more.end());
    if (first.empty()) first = all;
    EXPECT_TRUE(all == first) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Simd, Activate, ::testing::ValuesIn(simd_targets()),
                         [](const auto& test) { return test.param; });

TEST(ActivateGradient, AgreesWithCentralDifferences) {
  const Tensor x = testing::normal_input({3, 7}, 11), up = testing::normal_input({3, 7}, 12);
  for (const DType dtype : {DType::float64, DType::float32}) {
    for (const Activation activation : kActivations) {
      testing::expect_gradients([&](const auto& v) { return activate(v[0], activation); }, {x},
                                {.dtype = dtype});
      testing::expect_gradients([&](const auto& v) { return gated(v[0], v[1], activation); },
                                {x, up}, {.dtype = dtype});
    }
  }
}

TEST(ActivateTape, NoneIsTheVariableItself) {
  const Variable x(Tensor::zeros(DType::float32, {3}), true);
  EXPECT_EQ(activate(x, Activation::none).state(), x.state());
}

TEST(ActivateTape, GradientsJoinWhatIsThereAndWhatIsHeldIsKept) {
  RandomNumbers random(4);
  const Tensor grad = normal(DType::float32, {50}, random);
  const std::vector<double> before = values_of(grad.view());
  for (const Activation activation : {Activation::relu, Activation::gelu}) {
    const Variable x(normal(DType::float32, {50}, random), true);
    backward(activate(x, activation), grad.view());
    const std::vector<double> once = values_of(x.grad().view());
    Variable y = activate(x, activation);
    y.retain_grad();
    backward(y, grad.view());
    EXPECT_EQ(values_of(y.grad().view()), before);
    const std::vector<double> twice = values_of(x.grad().view());
    for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(twice[i], 2 * once[i]);
  }
  EXPECT_EQ(values_of(grad.view()), before);
}

TEST(ActivateTape, OneOfTwoGradientsIsGivenAlone) {
  RandomNumbers random(5);
  const Tensor grad = normal(DType::float32, {20}, random);
  const Tensor a = normal(DType::float32, {20}, random), b = normal(DType::float32, {20}, random);
  const Variable gate(a, true), up(b, true), fixed_gate(a), fixed_up(b);
  backward(gated(gate, up, Activation::silu), grad.view());
  const Variable only_gate(a, true), only_up(b, true);
  backward(gated(only_gate, fixed_up, Activation::silu), grad.view());
  backward(gated(fixed_gate, only_up, Activation::silu), grad.view());
  EXPECT_FALSE(fixed_up.grad());
  EXPECT_EQ(values_of(only_gate.grad().view()), values_of(gate.grad().view()));
  EXPECT_EQ(values_of(only_up.grad().view()), values_of(up.grad().view()));
  const Variable both(a, true);  // the gate is what it lets through
  backward(gated(both, both, Activation::silu), grad.view());
  EXPECT_TRUE(both.grad());
}

TEST(ActivateTape, WhatIsNeededMustNotBeChanged) {
  for (const Activation activation : {Activation::relu, Activation::silu}) {
    Variable x(Tensor::zeros(DType::float32, {3}), true);
    Variable y = activate(x, activation);
    (activation == Activation::relu ? y : x).change();
    EXPECT_THROW(backward(y, Tensor::zeros(DType::float32, {3}).view()), InvalidArgument);
  }
}

TEST(ActivateBadInput, IsNamed) {
  const auto expect_refused = [](const std::function<void()>& call, const std::string& text) {
    try {
      call();
      ADD_FAILURE() << "accepted; expected: " << text;
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(text));
    }
  };
  const Variable x(Tensor::zeros(DType::float32, {2, 3}));
  expect_refused([&] { activate({}, Activation::relu); }, "[activate] x is missing");
  expect_refused([&] { activate(Variable(Tensor::zeros(DType::int8, {2})), Activation::relu); },
                 "x is int8; it must be float32, bfloat16 or float64");
  expect_refused([&] { activate(x, static_cast<Activation>(17)); },
                 "activation 17 is none of none, relu");
  expect_refused([&] { gated(x, {}, Activation::relu); }, "[gated] up is missing");
  expect_refused([&] { gated({}, x, Activation::relu); }, "[gated] gate is missing");
  expect_refused(
      [&] { gated(x, Variable(Tensor::zeros(DType::float32, {3, 2})), Activation::relu); },
      "up (3,2) must have shape of gate = (2,3)");
  expect_refused(
      [&] { gated(x, Variable(Tensor::zeros(DType::bfloat16, {2, 3})), Activation::relu); },
      "gate is float32 and up bfloat16; they must be alike");
}

}  // namespace
}  // namespace volvelle
