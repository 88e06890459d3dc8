// The gradient check itself: it must pass what is right and notice what is not.
#include "support/gradient_check.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/arrays.h"
#include "volvelle/autograd/tape.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using testing::check_gradients;
using testing::filled;
using testing::GradientCheck;
using testing::normal_input;
using testing::values_of;
using testing::wrong_gradient;

// a * b * b, with one factor of b's gradient to be had wrong.
Variable product(const std::vector<Variable>& inputs, double factor = 2) {
  const Variable& a = inputs.at(0);
  const Variable& b = inputs.at(1);
  const std::vector<double> x = values_of(a.view()), y = values_of(b.view());
  std::size_t n = 0;
  Tensor out = filled(a.dtype(), a.shape(), [&] {
    const double value = x[n] * y[n] * y[n];
    ++n;
    return value;
  });
  return record("product", out, inputs, [x, y, factor, shape = a.shape()](GradientPass& pass) {
    const std::vector<double> g = values_of(pass.grad_output());
    for (const int input : {0, 1}) {
      if (!pass.wants(input)) continue;
      std::size_t i = 0;
      pass.give(input, filled(pass.grad_output().dtype(), shape, [&] {
                  const double share = input == 0 ? y[i] * y[i] : factor * x[i] * y[i];
                  return g[i++] * share;
                }));
    }
  });
}

std::vector<Tensor> inputs() { return {normal_input({2, 5}, 1), normal_input({2, 5}, 2)}; }

TEST(GradientCheckItself, PassesWhatIsRightInEachDtype) {
  for (const DType dtype : {DType::float64, DType::float32, DType::bfloat16}) {
    testing::expect_gradients([](const auto& x) { return product(x); }, inputs(), {.dtype = dtype});
  }
}

TEST(GradientCheckItself, NamesTheInputWhoseGradientIsWrong) {
  const testing::GradientReport report =
      check_gradients([](const auto& x) { return product(x, 2.001); }, inputs());
  EXPECT_FALSE(report.passes());
  EXPECT_EQ(report.input, 1);
  EXPECT_NEAR(report.computed / report.difference, 1.0005, 1e-6) << report.text();
}

TEST(GradientCheckItself, SeesAWrongBackwardInTheMiddleOfAFunction) {
  for (const double factor : {0.0, 1.001, -1.0}) {
    const testing::GradientReport report = check_gradients(
        [&](const auto& x) { return product({wrong_gradient(x[0], factor), x[1]}); }, inputs());
    EXPECT_FALSE(report.passes()) << factor;
    EXPECT_EQ(report.input, 0);
  }
}

TEST(GradientCheckItself, ReachesLeavesThatAFunctionHoldsAndLeavesThemAsTheyWere) {
  const std::vector<Variable> leaves{Variable(normal_input({3}, 1)),
                                     Variable(normal_input({3}, 2))};
  const std::vector<double> before = values_of(leaves[1].view());
  testing::expect_gradients([&] { return product(leaves); }, leaves);
  EXPECT_FALSE(check_gradients([&] { return product(leaves, 1.999); }, leaves).passes());
  EXPECT_EQ(values_of(leaves[1].view()), before);
  EXPECT_FALSE(leaves[1].grad());
}

TEST(GradientCheckItself, LeavesOutInputsThatAskForNoGradient) {
  testing::expect_gradients([](const auto& x) { return product(x); }, inputs(), {.fixed = {0}});
}

TEST(GradientCheckItself, HoldsGradientsThatVanishToZero) {
  const Variable constant(normal_input({2, 5}, 3));
  const GradientCheck check{.zero = {1}};
  testing::expect_gradients([&](const auto& x) { return product({x[0], constant}); }, inputs(),
                            check);
  // Control: one that only the backward takes for zero.
  const auto cut = [](const auto& x) { return product({x[0], wrong_gradient(x[1], 0)}); };
  EXPECT_FALSE(check_gradients(cut, inputs(), check).passes());
}

}  // namespace
}  // namespace volvelle
