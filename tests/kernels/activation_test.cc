// The activations by themselves, against double, on every instruction set.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "kernels/matmul_finish.h"
#include "support/instruction_sets.h"

namespace volvelle {
namespace {

using kernels::Curve;

class ActivationKernel : public testing::OnEveryInstructionSet {};

struct Row {
  alignas(64) float in[32];
  float out[32];

  void run(Curve curve) {
    kernels::FinishStep step;
    step.sums = in;
    step.out = out;
    step.out_row = 32;
    step.rows = 1;
    step.columns = 32;
    step.curve = curve;
    kernels::matmul_finish(step);
  }
};

double gelu(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
double gelu_tanh(double x) {
  // (1 + tanh(u)) / 2, without its cancellation for negative u
  const double u = std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * u));
}
double silu(double x) { return x / (1 + std::exp(-x)); }

// Largest relative error where the result is a normal number, from -`reach` to `reach`.
double worst_error(Curve curve, const std::function<double(double)>& right, double reach) {
  double worst = 0;
  Row row;
  for (int block = 0; block < 4000; ++block) {
    for (int i = 0; i < 32; ++i) {
      row.in[i] = static_cast<float>(reach * ((block * 32 + i + 0.37) / 64000 - 1));
    }
    row.run(curve);
    for (int i = 0; i < 32; ++i) {
      const double wanted = right(static_cast<double>(row.in[i]));
      if (std::fabs(wanted) < 1e-36) continue;
      worst = std::max(worst, std::fabs(static_cast<double>(row.out[i]) / wanted - 1));
    }
  }
  return worst;
}

TEST_P(ActivationKernel, RelativeErrorsAreSmallOnBothSides) {
  // Without fused multiply-adds the exponents' own rounding stays in: up to 88 half units.
  const bool fused = simd_target() != "sse4" && simd_target() != "scalar";
  EXPECT_LE(worst_error(Curve::silu, silu, 80), fused ? 5e-7 : 4e-6);
  EXPECT_LE(worst_error(Curve::gelu_tanh, gelu_tanh, 3), 2e-6);
  EXPECT_LE(worst_error(Curve::gelu_tanh, gelu_tanh, 9), fused ? 8e-6 : 2e-5);
  EXPECT_LE(worst_error(Curve::gelu, gelu, 12), fused ? 8e-7 : 8e-6);
  EXPECT_EQ(worst_error(Curve::relu, [](double x) { return x > 0 ? x : 0; }, 9), 0);
  // Control: the two forms of gelu are not each other.
  EXPECT_GE(worst_error(Curve::gelu, gelu_tanh, 3), 1e-3);
}

TEST_P(ActivationKernel, EndsAreRight) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const Curve curve : {Curve::relu, Curve::gelu, Curve::gelu_tanh, Curve::silu}) {
    Row row{};
    const float in[] = {0.0f, 1e30f, kInf, std::numeric_limits<float>::quiet_NaN(), -1e4f, -1e30f};
    for (int i = 0; i < 6; ++i) row.in[i] = in[i];
    row.run(curve);
    EXPECT_EQ(row.out[0], 0);
    EXPECT_EQ(row.out[1], 1e30f) << static_cast<int>(curve);
    EXPECT_EQ(row.out[2], kInf) << static_cast<int>(curve);
    EXPECT_TRUE(std::isnan(row.out[3]));
    EXPECT_EQ(row.out[4], 0) << static_cast<int>(curve);
    EXPECT_EQ(row.out[5], 0) << static_cast<int>(curve);
  }
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Kernels, ActivationKernel);

}  // namespace
}  // namespace volvelle
