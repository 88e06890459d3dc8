// Per-target code: sums in float64 in an order that no instruction set changes.
#if defined(VOLVELLE_KERNELS_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_SUMS_INL_H_
#undef VOLVELLE_KERNELS_SUMS_INL_H_
#else
#define VOLVELLE_KERNELS_SUMS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "kernels/lanes-inl.h"
#include "kernels/stored_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Element i joins the sum number i % 32, whatever a vector holds; enough sums to hide the latency
// of an addition on every target.
inline constexpr int kSums = 32;

// The sum of terms, where `add(sum, tag, at)` gives `sum` plus the terms of the elements from `at`
// on. What is behind `count` is read from a copy that `rest(at, how_many)` makes: it returns what
// `add` is to be called with.
template <class Add, class Rest>
HWY_INLINE double SumTerms(int64_t count, Add&& add, Rest&& rest) {
  const hn::ScalableTag<double> d;
  constexpr int kVectors = kSums / kLanes<double>;
  hn::Vec<decltype(d)> sums[kVectors];
  for (int k = 0; k < kVectors; ++k) sums[k] = hn::Zero(d);
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
#pragma GCC unroll 32
    for (int k = 0; k < kVectors; ++k) sums[k] = add(sums[k], d, i + k * kLanes<double>);
  }
  HWY_ALIGN double lanes[kSums];
  for (int k = 0; k < kVectors; ++k) hn::Store(sums[k], d, lanes + k * kLanes<double>);
  for (; i < count; ++i) lanes[i % kSums] = rest(lanes[i % kSums], i);
  for (int half = kSums / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) lanes[k] += lanes[k + half];
  }
  return lanes[0];
}

HWY_INLINE double Widened(float x) { return x; }
HWY_INLINE double Widened(double x) { return x; }
HWY_INLINE double Widened(BFloat16 x) {
  const uint32_t bits = static_cast<uint32_t>(x.bits) << 16;
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}

template <class T>
HWY_INLINE double ElementSum(const T* x, int64_t count) {
  return SumTerms(
      count,
      [x](auto sum, auto d, int64_t at) HWY_ATTR { return hn::Add(sum, LoadWide(d, x + at)); },
      [x](double sum, int64_t at) { return sum + Widened(x[at]); });
}

template <class T>
HWY_INLINE double ProductSum(const T* x, const T* y, int64_t count) {
  return SumTerms(
      count,
      [x, y](auto sum, auto d, int64_t at)
          HWY_ATTR { return hn::MulAdd(LoadWide(d, x + at), LoadWide(d, y + at), sum); },
      [x, y](double sum, int64_t at) { return sum + Widened(x[at]) * Widened(y[at]); });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
