// Per-target code: exponentials for softmax. No include guard by #pragma once: Highway includes
// this once per target.
#if defined(VOLVELLE_KERNELS_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_EXP_INL_H_
#undef VOLVELLE_KERNELS_EXP_INL_H_
#else
#define VOLVELLE_KERNELS_EXP_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The base in which softmax works inside the kernels: scores are multiplied by kPerNat, so that
// Power(kPerNat * s) = e^s. Base 2 for float32 saves a multiplication per score; float64 keeps e.
template <class T>
inline constexpr T kPerNat = T{1};
template <>
inline constexpr float kPerNat<float> = 1.44269504088896341f;

// 2^x for x <= 0. Relative error at most 1.6e-7 (measured by kernels/exp_test.cc); 2^0 = 1 and
// 2^-inf = 0 exactly, NaN stays NaN; 0 for x below `least`, -126 or more: subnormal weights would
// slow every product that they enter a hundredfold. The polynomial is minimax on [-1/2, 1/2]
// in relative error with its constant held at 1.
template <class D>
  requires std::is_same_v<hn::TFromD<D>, float>
HWY_INLINE hn::Vec<D> Power(D d, hn::Vec<D> x, float least = -126.0f) {
  const auto c6 = hn::Set(d, 0.000155946781613f);
  const auto c5 = hn::Set(d, 0.00134066439024f);
  const auto c4 = hn::Set(d, 0.00961769297299f);
  const auto c3 = hn::Set(d, 0.0555031055101f);
  const auto c2 = hn::Set(d, 0.240226527829f);
  const auto c1 = hn::Set(d, 0.693147214968f);
  const auto one = hn::Set(d, 1.0f);
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  // reduce: x - round(x), 0 for infinities; scalef: p * 2^floor(x - r), 0 for -inf.
  const hn::Vec<D> r{_mm512_reduce_ps(x.raw, 0)};
  auto p = hn::MulAdd(c6, r, c5);
  p = hn::MulAdd(p, r, c4);
  p = hn::MulAdd(p, r, c3);
  p = hn::MulAdd(p, r, c2);
  p = hn::MulAdd(p, r, c1);
  p = hn::MulAdd(p, r, one);
  const __mmask16 normal = _mm512_cmp_ps_mask(x.raw, _mm512_set1_ps(least), _CMP_NLT_UQ);
  return hn::Vec<D>{_mm512_maskz_scalef_ps(normal, p.raw, hn::Sub(x, r).raw)};
#else
  const hn::RebindToSigned<D> di;
  // The order of Max keeps a NaN on every target (x86 returns the second operand).
  const auto clamped = hn::Max(hn::Set(d, -127.0f), x);
  const auto n = hn::Round(clamped);
  const auto r = hn::Sub(clamped, n);
  auto p = hn::MulAdd(c6, r, c5);
  p = hn::MulAdd(p, r, c4);
  p = hn::MulAdd(p, r, c3);
  p = hn::MulAdd(p, r, c2);
  p = hn::MulAdd(p, r, c1);
  p = hn::MulAdd(p, r, one);
  const auto exponent = hn::ShiftLeft<23>(hn::ConvertTo(di, n));
  const auto scaled = hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
  const auto tiny = hn::Lt(x, hn::Set(d, least));
  const auto result = hn::IfThenZeroElse(tiny, scaled);
  return hn::IfThenElse(hn::Eq(x, x), result, x);
#endif
}

// e^x for x <= 0; NaN stays NaN, e^-inf = 0 exactly, and so it is below `least`, -708 or more.
template <class D>
  requires std::is_same_v<hn::TFromD<D>, double>
HWY_INLINE hn::Vec<D> Power(D d, hn::Vec<D> x, double least = -708.0) {
  const auto tiny = hn::Lt(x, hn::Set(d, least));
  const auto result = hn::IfThenZeroElse(tiny, hn::Exp(d, x));
  return hn::IfThenElse(hn::Eq(x, x), result, x);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
