#include "kernels/convert.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convert.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/stored_rows-inl.h"
#include "volvelle/base/half.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void WidenBFloat16(const uint16_t* HWY_RESTRICT from, int64_t count, float* HWY_RESTRICT to) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<uint16_t, decltype(d)> dh;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto wide = hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(dh, from + i)));
    hn::StoreU(hn::BitCast(d, wide), d, to + i);
  }
  for (; i < count; ++i) to[i] = to_float(BFloat16{from[i]});
}

void NarrowBFloat16(const float* HWY_RESTRICT from, int64_t count, uint16_t* HWY_RESTRICT to) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    StoreStored(hn::LoadU(d, from + i), d, reinterpret_cast<BFloat16*>(to + i));
  }
  for (; i < count; ++i) to[i] = to_bfloat16(from[i]).bits;
}

#if HWY_TARGET == HWY_SCALAR
void WidenFloat16(const uint16_t* HWY_RESTRICT from, int64_t count, float* HWY_RESTRICT to) {
  for (int64_t i = 0; i < count; ++i) to[i] = to_float(Float16{from[i]});
}
#else
// By integer arithmetic, so that every target treats subnormal and non-finite values alike: the
// exponent is moved by a multiplication with 2^112, which also normalises subnormal halves.
void WidenFloat16(const uint16_t* HWY_RESTRICT from, int64_t count, float* HWY_RESTRICT to) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<uint16_t, decltype(d)> dh;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto move = hn::Set(d, 0x1p112f);
  const auto limit = hn::Set(du, 0x7C00u << 13);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto bits = hn::PromoteTo(du, hn::LoadU(dh, from + i));
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000u)));
    const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7FFFu)));
    const auto finite = hn::BitCast(du, hn::Mul(hn::BitCast(d, magnitude), move));
    const auto special = hn::Or(magnitude, hn::Set(du, 0x7F800000u));
    const hn::RebindToSigned<decltype(d)> di;
    const auto is_finite = hn::Lt(hn::BitCast(di, magnitude), hn::BitCast(di, limit));
    const auto chosen =
        hn::IfThenElse(is_finite, hn::BitCast(di, finite), hn::BitCast(di, special));
    hn::StoreU(hn::BitCast(d, hn::Or(hn::BitCast(du, chosen), sign)), d, to + i);
  }
  for (; i < count; ++i) to[i] = to_float(Float16{from[i]});
}
#endif

void NarrowFloat16(const float* HWY_RESTRICT from, int64_t count, uint16_t* HWY_RESTRICT to) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    StoreStored(hn::LoadU(d, from + i), d, reinterpret_cast<Float16*>(to + i));
  }
  for (; i < count; ++i) to[i] = to_float16(from[i]).bits;
}

const ConvertKernels* Table() {
  static constexpr ConvertKernels kTable{WidenFloat16, WidenBFloat16, NarrowFloat16,
                                         NarrowBFloat16};
  return &kTable;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(Table);

const ConvertKernels& convert_kernels() { return *HWY_DYNAMIC_DISPATCH(Table)(); }

}  // namespace volvelle::kernels
#endif
