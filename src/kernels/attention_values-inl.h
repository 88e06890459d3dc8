// Per-target code: softmax over a tile's scores and the weighted sum of its values.
#if defined(VOLVELLE_KERNELS_ATTENTION_VALUES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_ATTENTION_VALUES_INL_H_
#undef VOLVELLE_KERNELS_ATTENTION_VALUES_INL_H_
#else
#define VOLVELLE_KERNELS_ATTENTION_VALUES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>

#include "kernels/attention_forward.h"
#include "kernels/exp-inl.h"
#include "kernels/lanes-inl.h"
#include "kernels/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Turns scores into exp(score - maximum) in place, updates sum (and moment); `factor` receives
// what everything summed so far has to be multiplied with.
template <int kVectors, int kAcross, bool kMoment, class T>
HWY_NOINLINE void Exponentials(const TileStep<T>& step, const T* HWY_RESTRICT raised,
                               T* HWY_RESTRICT factor) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kPanel = kAcross * kLanes<T>;
  const V none = hn::Set(d, -std::numeric_limits<T>::infinity());
  const V lowest = hn::Set(d, std::numeric_limits<T>::lowest() / 4);
  V base[kVectors], sum[kVectors], moment[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    const int lane = v * kLanes<T>;
    const V before = hn::Load(d, step.maximum + lane);
    const V after = hn::Load(d, raised + lane);
    base[v] = hn::IfThenZeroElse(hn::Eq(after, none), after);  // no key yet: -inf - 0 = -inf
    const V alpha = Power(d, hn::Sub(before, base[v]));
    sum[v] = hn::Mul(alpha, hn::Load(d, step.sum + lane));
    if (kMoment) {
      const V shift = hn::Max(hn::Sub(before, base[v]), lowest);
      moment[v] = hn::Mul(
          alpha, hn::MulAdd(hn::Load(d, step.sum + lane), shift, hn::Load(d, step.moment + lane)));
    }
    hn::Store(alpha, d, factor + lane);
    hn::Store(after, d, step.maximum + lane);
  }
  const char* next_k = reinterpret_cast<const char*>(step.next_k);
  const char* next_v = reinterpret_cast<const char*>(step.next_v);
  const int64_t k_bytes = step.k_stride * static_cast<int64_t>(sizeof(T));
  const int64_t v_bytes = step.v_stride * static_cast<int64_t>(sizeof(T));
  const int k_line_bytes = step.width * static_cast<int>(sizeof(T));
  const int v_line_bytes = step.value_width * static_cast<int>(sizeof(T));
  for (int j = 0; j < step.keys; ++j) {
    T* HWY_RESTRICT place = step.scores + j * kPanel;
    for (int v = 0; v < kVectors; ++v) {
      const V x = hn::Sub(hn::Load(d, place + v * kLanes<T>), base[v]);
      const V p = Power(d, x);
      sum[v] = hn::Add(sum[v], p);
      if (kMoment) moment[v] = hn::MulAdd(p, hn::Max(lowest, x), moment[v]);
      hn::Store(p, d, place + v * kLanes<T>);
    }
    if (next_k != nullptr) {
      for (int b = 0; b < k_line_bytes; b += 64) __builtin_prefetch(next_k + j * k_bytes + b, 0, 2);
      for (int b = 0; b < v_line_bytes; b += 64) __builtin_prefetch(next_v + j * v_bytes + b, 0, 2);
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    hn::Store(sum[v], d, step.sum + v * kLanes<T>);
    if (kMoment) hn::Store(moment[v], d, step.moment + v * kLanes<T>);
  }
}

// Weights of the tile times their factors, in place.
template <int kVectors, int kAcross, class T>
HWY_NOINLINE void DropWeights(const TileStep<T>& step) {
  const hn::ScalableTag<T> d;
  constexpr int kPanel = kAcross * kLanes<T>;
  for (int j = 0; j < step.keys; ++j) {
    for (int v = 0; v < kVectors; ++v) {
      const int at = j * kPanel + v * kLanes<T>;
      const auto weight = hn::Load(d, step.scores + at);
      hn::Store(hn::Mul(weight, hn::Load(d, step.factors + at)), d, step.scores + at);
    }
  }
}

// Whether every element of `rows` rows is finite: 0 * x stays 0.
template <class T>
HWY_INLINE bool AllFinite(const T* HWY_RESTRICT row, int64_t stride, int rows, int width) {
  const hn::ScalableTag<T> d;
  const int whole = width - width % kLanes<T>;
  const auto zero = hn::Zero(d);
  auto even = zero;
  auto odd = zero;
  T rest = 0;
  for (int j = 0; j < rows; ++j, row += stride) {
    int i = 0;
    for (; i + 2 * kLanes<T> <= whole; i += 2 * kLanes<T>) {
      even = hn::MulAdd(zero, hn::LoadU(d, row + i), even);
      odd = hn::MulAdd(zero, hn::LoadU(d, row + i + kLanes<T>), odd);
    }
    if (i < whole) even = hn::MulAdd(zero, hn::LoadU(d, row + i), even);
    for (i = whole; i < width; ++i) rest += T{0} * row[i];
  }
  return hn::AllTrue(d, hn::Eq(hn::Add(even, odd), zero)) && rest == 0;
}

// Adds one key's value only to the queries that see it: the way of a value that is not finite,
// where a weight of 0 would spread it.
template <int kVectors, int kAcross, class T>
HWY_NOINLINE void AddSeenValue(const TileStep<T>& step, int key) {
  const hn::ScalableTag<T> d;
  constexpr int kPanel = kAcross * kLanes<T>;
  for (int v = 0; v < kVectors; ++v) {
    const int lane = v * kLanes<T>;
    const auto weight = hn::Load(d, step.scores + key * kPanel + lane);
    auto seen = hn::Eq(hn::Zero(d), hn::Zero(d));
    if (step.first != nullptr) {
      const auto x = hn::Set(d, static_cast<T>(key + step.key_base));
      seen = hn::And(hn::Ge(x, hn::Load(d, step.first + lane)),
                     hn::Lt(x, hn::Load(d, step.last + lane)));
    }
    if (step.select != nullptr) {
      seen = hn::And(seen, hn::Ne(hn::Load(d, step.select + key * kPanel + lane), hn::Zero(d)));
    }
    for (int e = 0; e < step.value_width; ++e) {
      T* HWY_RESTRICT place = step.out + e * kPanel + lane;
      const auto old = hn::Load(d, place);
      const auto value = hn::Set(d, step.v[key * step.v_stride + e]);
      hn::Store(hn::IfThenElse(seen, hn::MulAdd(value, weight, old), old), d, place);
    }
  }
}

template <int kVectors, int kAcross, class T>
HWY_INLINE void Accumulate(const TileStep<T>& step, int first_key, int keys, const T* factor,
                           bool fresh) {
  const hn::ScalableTag<T> d;
  constexpr int kPanel = kAcross * kLanes<T>;
  const T* left = step.v + first_key * step.v_stride;
  const T* right = step.scores + first_key * kPanel;
  ForBlocks<kVectors>(step.value_width, [&](auto rows, int first) HWY_ATTR {
    constexpr int kRows = decltype(rows)::value;
    T* out = step.out + first * kPanel;
    if (fresh) {
      AccumulateBlock<kRows, kVectors, kAcross, true>(d, left + first, step.v_stride, right, keys,
                                                      out, factor);
    } else {
      AccumulateBlock<kRows, kVectors, kAcross, false>(d, left + first, step.v_stride, right, keys,
                                                       out, factor);
    }
  });
}

// Weighted values where some keys are excluded for some queries. Finite rows may go through the
// fast product, for 0 * finite = 0; a row that is not finite is added only where it is seen.
template <int kVectors, int kAcross, class T>
HWY_NOINLINE void AccumulateGuarded(const TileStep<T>& step, const T* factor) {
  if (HWY_LIKELY(AllFinite(step.v, step.v_stride, step.keys, step.value_width))) {
    return Accumulate<kVectors, kAcross>(step, 0, step.keys, factor, step.fresh);
  }
  const hn::ScalableTag<T> d;
  HWY_ALIGN T ones[kVectors * kLanes<T>];
  for (int v = 0; v < kVectors; ++v) hn::Store(hn::Set(d, T{1}), d, ones + v * kLanes<T>);
  Accumulate<kVectors, kAcross>(step, 0, 0, factor, step.fresh);  // no keys: only the factor
  for (int j = 0; j < step.keys; ++j) {
    if (AllFinite(step.v + j * step.v_stride, step.v_stride, 1, step.value_width)) {
      Accumulate<kVectors, kAcross>(step, j, 1, ones, false);
    } else {
      AddSeenValue<kVectors, kAcross>(step, j);
    }
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
