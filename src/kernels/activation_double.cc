#include "kernels/activation_double.h"

#include <cmath>

namespace volvelle::kernels {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;       // 1 / sqrt 2
constexpr double kDensityAtZero = 0.39894228040143267794;  // 1 / sqrt(2 pi)
constexpr double kTwiceRoot = 1.59576912160573071176;      // 2 sqrt(2 / pi)
constexpr double kCubic = 0.044715;

double sigmoid(double x) {
  const double part = std::exp(-std::fabs(x));
  return (x < 0 ? part : 1) / (1 + part);
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x * kSqrtHalf); }

// (1 + tanh(u)) / 2 = sigmoid(2 u).
double twice_inner(double x) { return kTwiceRoot * x * (1 + kCubic * x * x); }

// Beyond, every curve is 0 or x to the last bit and its slope 0 or 1; within, no square of x
// overflows and nothing is infinity times 0.
constexpr double kFar = 800;

double limited(double x) { return x < -kFar ? -kFar : x > kFar ? kFar : x; }

}  // namespace

double curved(Curve curve, double x) {
  switch (curve) {
    case Curve::identity:
      break;
    case Curve::relu:
      return x < 0 ? 0 : x;
    case Curve::gelu:
      return x < -kFar ? 0 : x * normal_cdf(x);
    case Curve::gelu_tanh:
      return x < -kFar ? 0 : x * sigmoid(twice_inner(limited(x)));
    case Curve::silu:
      return x < -kFar ? 0 : x * sigmoid(x);
  }
  return x;
}

double curve_slope(Curve curve, double x) {
  const double at = limited(x);
  switch (curve) {
    case Curve::identity:
      break;
    case Curve::relu:
      return x <= 0 ? 0 : 1;
    case Curve::gelu:
      return normal_cdf(at) + at * kDensityAtZero * std::exp(-0.5 * at * at);
    case Curve::gelu_tanh: {
      const double u = twice_inner(at);
      return sigmoid(u) + at * kTwiceRoot * (1 + 3 * kCubic * at * at) * sigmoid(u) * sigmoid(-u);
    }
    case Curve::silu:
      return sigmoid(at) * (1 + at * sigmoid(-at));
  }
  return 1;
}

}  // namespace volvelle::kernels
