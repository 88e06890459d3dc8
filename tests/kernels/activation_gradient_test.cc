// The derivatives of the activations: in double against differences, in float against double on
// every instruction set.

#include "kernels/activation_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/activation_double.h"
#include "support/instruction_sets.h"

namespace volvelle {
namespace {

using kernels::activated;
using kernels::activation_slope;
using kernels::Curve;

constexpr Curve kCurves[] = {Curve::identity, Curve::relu, Curve::gelu, Curve::gelu_tanh,
                             Curve::silu};

// Largest distance between the slope in double and central differences of another curve.
double worst_slope(Curve slope_of, Curve values_of) {
  double worst = 0;
  for (double x = -6.01; x < 6; x += 0.037) {
    const double step = 1e-5;
    const double wanted =
        (activated(values_of, x + step) - activated(values_of, x - step)) / (2 * step);
    worst = std::max(worst, std::fabs(activation_slope(slope_of, x) - wanted));
  }
  return worst;
}

TEST(ActivationSlope, InDoubleIsTheDerivative) {
  for (const Curve curve : kCurves) EXPECT_LT(worst_slope(curve, curve), 1e-9);
  // Control: the two forms of gelu have slopes of their own.
  EXPECT_GT(worst_slope(Curve::gelu, Curve::gelu_tanh), 1e-4);
}

class ActivationGradient : public testing::OnEveryInstructionSet {};

TEST_P(ActivationGradient, FloatIsCloseToDouble) {
  std::vector<float> x;
  for (float at = -30; at < 30; at += 0.0173f) x.push_back(at);
  const std::int64_t count = static_cast<std::int64_t>(x.size());
  const std::vector<float> ones(x.size(), 1.0f);
  std::vector<float> slope(x.size());
  for (const Curve curve : kCurves) {
    kernels::activation_gradients().plain(curve, x.data(), ones.data(), count, slope.data());
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double wanted = activation_slope(curve, static_cast<double>(x[i]));
      worst = std::max(worst, std::fabs(static_cast<double>(slope[i]) - wanted));
    }
    EXPECT_LE(worst, 6e-7) << static_cast<int>(curve);
  }
}

TEST_P(ActivationGradient, EndsAreRight) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float x[] = {0.0f, kInf, -kInf, 1e30f, -1e30f, std::numeric_limits<float>::quiet_NaN()};
  const float ones[] = {1, 1, 1, 1, 1, 1};
  for (const Curve curve : {Curve::relu, Curve::gelu, Curve::gelu_tanh, Curve::silu}) {
    float slope[6];
    kernels::activation_gradients().plain(curve, x, ones, 6, slope);
    for (int i = 0; i < 5; ++i) {
      const double wanted = activation_slope(curve, static_cast<double>(x[i]));
      EXPECT_NEAR(static_cast<double>(slope[i]), wanted, 1e-7) << static_cast<int>(curve) << i;
      EXPECT_EQ(wanted, i == 0 ? (curve == Curve::relu ? 0 : 0.5) : (i % 2 == 1 ? 1 : 0));
    }
    EXPECT_EQ(std::isnan(slope[5]), curve != Curve::relu) << static_cast<int>(curve);
    EXPECT_EQ(std::isnan(activation_slope(curve, std::nan(""))), curve != Curve::relu);
  }
}

// Every length, into place of its own and over what it reads; nothing behind the end is touched.
TEST_P(ActivationGradient, AnyLengthAndInPlace) {
  for (int count = 0; count <= 37; ++count) {
    std::vector<float> gate, up, grad;
    for (int i = 0; i <= count; ++i) {
      gate.push_back(0.3f * static_cast<float>(i - 10));
      up.push_back(0.7f - 0.1f * static_cast<float>(i));
      grad.push_back(1.5f - 0.2f * static_cast<float>(i));
    }
    std::vector<float> plain(gate.size(), 9), to_gate(gate.size(), 9), to_up(gate.size(), 9);
    const auto& back = kernels::activation_gradients();
    back.plain(Curve::silu, gate.data(), grad.data(), count, plain.data());
    back.gated(Curve::gelu, gate.data(), up.data(), grad.data(), count, to_gate.data(),
               to_up.data());
    EXPECT_EQ(plain.back(), 9);
    EXPECT_EQ(to_gate.back(), 9);
    EXPECT_EQ(to_up.back(), 9);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const double g = static_cast<double>(gate[i]), u = static_cast<double>(up[i]);
      const double b = static_cast<double>(grad[i]);
      EXPECT_NEAR(static_cast<double>(plain[i]), activation_slope(Curve::silu, g) * b, 2e-6);
      EXPECT_NEAR(static_cast<double>(to_gate[i]), activation_slope(Curve::gelu, g) * u * b, 2e-6);
      EXPECT_NEAR(static_cast<double>(to_up[i]), activated(Curve::gelu, g) * b, 5e-6);
    }
    std::vector<float> over = grad;
    back.plain(Curve::silu, gate.data(), over.data(), count, over.data());
    EXPECT_TRUE(std::equal(over.begin(), over.end() - 1, plain.begin()));
    std::vector<float> over_gate = gate, over_up = up;
    back.gated(Curve::gelu, over_gate.data(), over_up.data(), grad.data(), count, over_gate.data(),
               over_up.data());
    EXPECT_TRUE(std::equal(over_gate.begin(), over_gate.end() - 1, to_gate.begin()));
    EXPECT_TRUE(std::equal(over_up.begin(), over_up.end() - 1, to_up.begin()));
  }
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Kernels, ActivationGradient);

TEST(ActivationGradientDouble, IsSlopeTimesGradient) {
  const double gate[] = {-1.5, 0.25, 2}, up[] = {3, -1, 0.5}, grad[] = {0.5, 2, -1};
  double plain[3], to_gate[3], to_up[3];
  const auto& back = kernels::activation_gradients_double();
  back.plain(Curve::gelu_tanh, gate, grad, 3, plain);
  back.gated(Curve::silu, gate, up, grad, 3, to_gate, to_up);
  for (int i = 0; i < 3; ++i) {
    EXPECT_DOUBLE_EQ(plain[i], activation_slope(Curve::gelu_tanh, gate[i]) * grad[i]);
    EXPECT_DOUBLE_EQ(to_gate[i], activation_slope(Curve::silu, gate[i]) * up[i] * grad[i]);
    EXPECT_DOUBLE_EQ(to_up[i], activated(Curve::silu, gate[i]) * grad[i]);
  }
}

}  // namespace
}  // namespace volvelle
