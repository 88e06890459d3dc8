// Per-target code: vectors of float out of what is stored as float32, bfloat16 or float16.
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

// The first `count` elements, 0 behind them; nothing else is read.
template <class D, class S>
HWY_INLINE hn::Vec<D> LoadStoredPart(D d, const S* from, int count) {
  HWY_ALIGN S whole[hn::MaxLanes(D())] = {};
  for (int i = 0; i < count; ++i) whole[i] = from[i];
  return LoadStored(d, whole);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
