// Per-target code: the derivatives of the activations, float32. NaN stays NaN; errors are measured
// against double by kernels/activation_gradient_test.cc.
#if defined(VOLVELLE_KERNELS_ACTIVATION_SLOPE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_ACTIVATION_SLOPE_INL_H_
#undef VOLVELLE_KERNELS_ACTIVATION_SLOPE_INL_H_
#else
#define VOLVELLE_KERNELS_ACTIVATION_SLOPE_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Where every slope is 0 or 1 to the last bit, so that nothing overflows and no infinity meets a 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Limited(D d, V x, float far) {
  const V limited = hn::Min(hn::Max(x, hn::Set(d, -far)), hn::Set(d, far));
  return hn::IfThenElse(hn::Eq(x, x), limited, x);
}

// 1 / (1 + e^-(high + low)) and what it lacks to 1, each to its own last bits.
template <class V>
struct SigmoidParts {
  V s, rest;
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE SigmoidParts<V> SigmoidAndRest(D d, V high, V low) {
  const V one = hn::Set(d, 1.0f);
  const auto negative = hn::Lt(high, hn::Zero(d));
  const V part = ExpOfSum(d, hn::IfThenElse(negative, high, hn::Neg(high)),
                          hn::IfThenElse(negative, low, hn::Neg(low)));
  const V large = hn::Div(one, hn::Add(one, part));
  const V small = hn::Mul(part, large);
  return {hn::IfThenElse(negative, small, large), hn::IfThenElse(negative, large, small)};
}

// s (1 + x (1 - s)), s = 1 / (1 + e^-x).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SiluSlope(D d, V x) {
  const V at = Limited(d, x, 120.0f);
  const SigmoidParts<V> parts = SigmoidAndRest(d, at, hn::Zero(d));
  return hn::Mul(parts.s, hn::MulAdd(at, parts.rest, hn::Set(d, 1.0f)));
}

// s + x s (1 - s) u', s = 1 / (1 + e^-u), u = 2 sqrt(2 / pi) (x + 0.044715 x^3).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V GeluTanhSlope(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V at = Limited(d, x, 40.0f);
  const V square = hn::Mul(at, at);
  const V twice = hn::Mul(at, hn::Set(d, 1.5957691216f));
  const V cubic = hn::MulAdd(square, hn::Set(d, 0.044715f), one);
  const V high = hn::Mul(twice, cubic);
  const SigmoidParts<V> parts = SigmoidAndRest(d, high, hn::MulSub(twice, cubic, high));
  const V growth = hn::Mul(twice, hn::MulAdd(square, hn::Set(d, 0.134145f), one));  // x u'
  return hn::Mul(parts.s, hn::MulAdd(growth, parts.rest, one));
}

// Phi(x) + x phi(x).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V GeluSlope(D d, V x) {
  const V at = Limited(d, x, 40.0f);
  const V half = hn::Mul(at, hn::Set(d, -0.5f));
  const V square = hn::Mul(half, at);
  const V density =
      hn::Mul(ExpOfSum(d, square, hn::MulSub(half, at, square)), hn::Set(d, 0.39894228040f));
  return hn::MulAdd(at, density, NormalCdf(d, at));
}

template <Curve kCurve, class D, class V = hn::Vec<D>>
HWY_INLINE V Slope(D d, V x) {
  if constexpr (kCurve == Curve::relu) {
    return hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), hn::Set(d, 1.0f));
  } else if constexpr (kCurve == Curve::gelu) {
    return GeluSlope(d, x);
  } else if constexpr (kCurve == Curve::gelu_tanh) {
    return GeluTanhSlope(d, x);
  } else if constexpr (kCurve == Curve::silu) {
    return SiluSlope(d, x);
  } else {
    return hn::Set(d, 1.0f);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
