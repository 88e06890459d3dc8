// Per-target code: the activations of linear layers, float32. NaN stays NaN; errors are measured
// against double by kernels/activation_test.cc.
#if defined(VOLVELLE_KERNELS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_ACTIVATION_INL_H_
#undef VOLVELLE_KERNELS_ACTIVATION_INL_H_
#else
#define VOLVELLE_KERNELS_ACTIVATION_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/exp-inl.h"
#include "kernels/matmul_finish.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// e^(high + low) for high <= 0 and a low that is small beside it.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpOfSum(D d, V high, V low) {
  const V per_nat = hn::Set(d, kPerNat<float>);
  const V base2 = hn::Mul(high, per_nat);
  // What rounding took from the product, so that large arguments keep a small relative error;
  // 1.9e-8 is what log2(e) lacks as a float.
  V rest = hn::MulSub(high, per_nat, base2);
  rest = hn::MulAdd(high, hn::Set(d, 1.925963033500e-8f), rest);
  rest = hn::MulAdd(low, per_nat, rest);
  // An infinite argument leaves no rest: inf - inf would be NaN.
  rest = hn::IfThenZeroElse(hn::Lt(high, hn::Set(d, -1e4f)), rest);
  const V power = Power(d, base2);
  return hn::MulAdd(hn::Mul(power, hn::Set(d, 0.69314718056f)), rest, power);
}

// 1 / (1 + e^-(high + low)), from e^-|...| so that nothing overflows.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Sigmoid(D d, V high, V low) {
  const V one = hn::Set(d, 1.0f);
  const auto negative = hn::Lt(high, hn::Zero(d));
  const V part = ExpOfSum(d, hn::IfThenElse(negative, high, hn::Neg(high)),
                          hn::IfThenElse(negative, low, hn::Neg(low)));
  return hn::Div(hn::IfThenElse(negative, part, one), hn::Add(one, part));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Relu(D d, V x) {
  return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Silu(D d, V x) {
  return hn::Mul(x, Sigmoid(d, x, hn::Zero(d)));
}

// (1 + tanh(u)) / 2 = 1 / (1 + e^-2u).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V GeluTanh(D d, V x) {
  const V cubic = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.044715f), hn::Set(d, 1.0f));
  const V twice = hn::Mul(x, hn::Set(d, 1.5957691216f));  // 2 sqrt(2 / pi) x
  const V high = hn::Mul(twice, cubic);
  return hn::Mul(x, Sigmoid(d, high, hn::MulSub(twice, cubic, high)));
}

// Phi(x) by way of erfc(z) = t exp(P(t) - z^2), z = |x| / sqrt 2, t = 1 / (1 + z / 2): its
// relative error stays small on the negative side, where 1 + erf would cancel. P is the
// interpolant at Chebyshev points of log(erfc(z) exp(z^2) / t) on z < 9.6, to 5e-8.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V NormalCdf(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V magnitude = hn::Abs(x);
  const V t = hn::Div(one, hn::MulAdd(magnitude, hn::Set(d, 0.35355339059f), one));
  V p = hn::Set(d, 0.14424046873804626f);
  p = hn::MulAdd(p, t, hn::Set(d, -0.6768506169319153f));
  p = hn::MulAdd(p, t, hn::Set(d, 1.1467537879943848f));
  p = hn::MulAdd(p, t, hn::Set(d, -0.6819790601730347f));
  p = hn::MulAdd(p, t, hn::Set(d, -0.09305857121944427f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.00866603571921587f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.03184483200311661f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.38727545738220215f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.9985512495040894f));
  p = hn::MulAdd(p, t, hn::Set(d, -1.2654435634613037f));
  // The exponent in two parts, its own rounding and that of the square kept: they would show.
  const V half = hn::Mul(magnitude, hn::Set(d, -0.5f));
  const V square = hn::Mul(half, magnitude);
  const V sum = hn::Add(square, p);
  const V p_part = hn::Sub(sum, square);
  const V lost = hn::Add(hn::Sub(square, hn::Sub(sum, p_part)), hn::Sub(p, p_part));
  const V low = hn::Add(hn::MulSub(half, magnitude, square), lost);
  const V tail = hn::Mul(hn::Mul(t, hn::Set(d, 0.5f)), ExpOfSum(d, sum, low));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Gelu(D d, V x) {
  return hn::Mul(x, NormalCdf(d, x));
}

template <Curve kCurve, class D, class V = hn::Vec<D>>
HWY_INLINE V Activated(D d, V x) {
  if constexpr (kCurve == Curve::relu) {
    return Relu(d, x);
  } else if constexpr (kCurve == Curve::gelu) {
    return Gelu(d, x);
  } else if constexpr (kCurve == Curve::gelu_tanh) {
    return GeluTanh(d, x);
  } else if constexpr (kCurve == Curve::silu) {
    return Silu(d, x);
  } else {
    return x;
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
