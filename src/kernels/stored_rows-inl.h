// Per-target code: vectors out of what is stored as float64, float32, bfloat16 or float16, and
// back.
#if defined(VOLVELLE_KERNELS_STORED_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_STORED_ROWS_INL_H_
#undef VOLVELLE_KERNELS_STORED_ROWS_INL_H_
#else
#define VOLVELLE_KERNELS_STORED_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "volvelle/base/half.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> LoadStored(D d, const float* from) {
  return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE hn::Vec<D> LoadStored(D d, const double* from) {
  return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE hn::Vec<D> LoadStored(D d, const BFloat16* from) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint16_t, D> dh;
  const auto bits = hn::PromoteTo(du, hn::LoadU(dh, reinterpret_cast<const uint16_t*>(from)));
  return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}

template <class D>
HWY_INLINE hn::Vec<D> LoadStored(D d, const Float16* from) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, to_float(*from));
#elif HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2
  // By integer arithmetic: before F16C Highway's own conversion turns infinity into a number. The
  // exponent is moved by a multiplication with 2^112, which also normalises subnormal halves.
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const hn::Rebind<uint16_t, D> dh;
  const auto bits = hn::PromoteTo(du, hn::LoadU(dh, reinterpret_cast<const uint16_t*>(from)));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000u)));
  const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7FFFu)));
  const auto finite = hn::BitCast(di, hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p112f)));
  const auto special = hn::BitCast(di, hn::Or(magnitude, hn::Set(du, 0x7F800000u)));
  const auto is_finite = hn::Lt(hn::BitCast(di, magnitude), hn::Set(di, 0x7C00 << 13));
  const auto chosen = hn::BitCast(du, hn::IfThenElse(is_finite, finite, special));
  return hn::BitCast(d, hn::Or(chosen, sign));
#else
  const hn::Rebind<hwy::float16_t, D> dh;
  return hn::PromoteTo(d, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(from)));
#endif
}

template <class D>
HWY_INLINE void StoreStored(hn::Vec<D> x, D d, float* to) {
  hn::StoreU(x, d, to);
}

template <class D>
HWY_INLINE void StoreStored(hn::Vec<D> x, D d, double* to) {
  hn::StoreU(x, d, to);
}

// To the nearest, ties to even; NaN stays NaN.
template <class D>
HWY_INLINE void StoreStored(hn::Vec<D> x, [[maybe_unused]] D d, BFloat16* to) {
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const hn::Rebind<uint16_t, D> dh;
  const auto bits = hn::BitCast(du, x);
  const auto high = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(high, hn::Set(du, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFFu))));
  const auto number = hn::RebindMask(du, hn::Eq(x, x));
  const auto chosen = hn::IfThenElse(number, rounded, hn::Or(high, hn::Set(du, 0x40u)));
  hn::StoreU(hn::DemoteTo(dh, hn::BitCast(di, chosen)), dh, reinterpret_cast<uint16_t*>(to));
}

// By integer arithmetic, so that every target treats subnormal and non-finite values alike.
template <class D>
HWY_INLINE void StoreStored(hn::Vec<D> x, [[maybe_unused]] D d, Float16* to) {
#if HWY_TARGET == HWY_SCALAR
  *to = to_float16(hn::GetLane(x));
#else
  const hn::RebindToSigned<D> di;
  const hn::Rebind<int16_t, D> dh;
  const auto bits = hn::BitCast(di, x);
  const auto magnitude = hn::And(bits, hn::Set(di, 0x7FFFFFFF));
  const auto sign = hn::AndNot(hn::Set(di, 0x7FFFFFFF), bits);
  // Normal halves: round in integer; subnormal ones: let the adder round at 2^-24.
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(di, 1));
  const auto rounded = hn::Add(magnitude, hn::Add(odd, hn::Set(di, 0xFFF)));
  const auto normal = hn::ShiftRight<13>(hn::Sub(rounded, hn::Set(di, 0x38000000)));
  const auto shifted = hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5f));
  const auto subnormal = hn::Sub(hn::BitCast(di, shifted), hn::Set(di, 0x3F000000));
  auto half = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 0x38800000)), subnormal, normal);
  half = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, 0x477FEFFF)), hn::Set(di, 0x7C00), half);
  half = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, 0x7F800000)), hn::Set(di, 0x7E00), half);
  // The sign goes in as the sign of a 16-bit integer, so the narrowing does not saturate.
  half = hn::Or(half, hn::ShiftRight<16>(sign));
  hn::StoreU(hn::DemoteTo(dh, half), dh, reinterpret_cast<int16_t*>(to));
#endif
}

// As double, half as many to a vector.
template <class D>
HWY_INLINE hn::Vec<D> LoadWide(D d, const double* from) {
  return hn::LoadU(d, from);
}

template <class D, class S>
HWY_INLINE hn::Vec<D> LoadWide(D d, const S* from) {
  return hn::PromoteTo(d, LoadStored(hn::Rebind<float, D>(), from));
}

// The first `count` elements, 0 behind them; nothing else is read.
template <class D, class S>
HWY_INLINE hn::Vec<D> LoadStoredPart(D d, const S* from, int count) {
  HWY_ALIGN S whole[hn::MaxLanes(D())] = {};
  for (int i = 0; i < count; ++i) whole[i] = from[i];
  return LoadStored(d, whole);
}

// The first `count` elements; nothing else is written.
template <class D, class S>
HWY_INLINE void StoreStoredPart(hn::Vec<D> x, D d, S* to, int count) {
  HWY_ALIGN S whole[hn::MaxLanes(D())];
  StoreStored(x, d, whole);
  for (int i = 0; i < count; ++i) to[i] = whole[i];
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
