// Per-target code: softmax over a step's scores, the weighted sum of its values, and the parts of a
// row put together.
#if defined(VOLVELLE_KERNELS_DECODE_VALUES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_DECODE_VALUES_INL_H_
#undef VOLVELLE_KERNELS_DECODE_VALUES_INL_H_
#else
#define VOLVELLE_KERNELS_DECODE_VALUES_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/attention_decode.h"
#include "kernels/decode_scores-inl.h"
#include "kernels/exp-inl.h"
#include "kernels/lanes-inl.h"
#include "kernels/stored_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr float kNoScore = -std::numeric_limits<float>::infinity();

HWY_INLINE float PowerOf(float x) {
  const hn::ScalableTag<float> d;
  return hn::GetLane(Power(d, hn::Set(d, x)));
}

// Exponentials of one row; a vector holds keys. Lanes behind the last key count as excluded, so
// that a row's sum has the same bits however many excluded keys follow.
HWY_INLINE void WeighRow(const DecodeStep& step, int row) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  float* HWY_RESTRICT scores = step.scores + row * kTileKeys;
  const int padded = (step.keys + kLanes<float> - 1) / kLanes<float> * kLanes<float>;
  for (int j = step.keys; j < padded; ++j) scores[j] = kNoScore;
  V top = hn::Load(d, scores);
  for (int j = kLanes<float>; j < padded; j += kLanes<float>) {
    top = hn::Max(top, hn::Load(d, scores + j));
  }
  const float before = step.maximum[row];
  const float largest = hn::GetLane(hn::MaxOfLanes(d, top));
  const float after = largest > before ? largest : before;
  const float base = after == kNoScore ? 0.0f : after;  // no key yet: -inf - 0 = -inf
  const float factor = PowerOf(before - base);
  const V base_lanes = hn::Set(d, base);
  const V lowest = hn::Set(d, std::numeric_limits<float>::lowest() / 4);
  V sum = hn::Zero(d);
  V moment = hn::Zero(d);
  for (int j = 0; j < padded; j += kLanes<float>) {
    const V x = hn::Sub(hn::Load(d, scores + j), base_lanes);
    const V p = Power(d, x);
    hn::Store(p, d, scores + j);
    sum = hn::Add(sum, p);
    if (step.moment != nullptr) moment = hn::MulAdd(p, hn::Max(lowest, x), moment);
  }
  if (step.moment != nullptr) {
    const float shift = before - base < std::numeric_limits<float>::lowest() / 4
                            ? std::numeric_limits<float>::lowest() / 4
                            : before - base;
    step.moment[row] = factor * (step.sum[row] * shift + step.moment[row]) +
                       hn::GetLane(hn::SumOfLanes(d, moment));
  }
  step.sum[row] = factor * step.sum[row] + hn::GetLane(hn::SumOfLanes(d, sum));
  step.maximum[row] = after;
  step.factor[row] = factor;
}

inline void DecodeWeights(const DecodeStep& step) {
  for (int row = 0; row < step.rows; ++row) WeighRow(step, row);
}

// out = factor * out + weights v for kRows rows and kVectors vectors of elements from `e` on.
template <int kRows, int kVectors, class Load>
HWY_INLINE void ValueBlock(const DecodeStep& step, int row, int e, bool fetch, int64_t key_bytes,
                           int64_t key_stride_bytes, Load&& load) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  float* out = step.out + row * step.out_stride + e;
  const float* weights = step.scores + row * kTileKeys;
  V sum[kRows][kVectors];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    const V factor = hn::Set(d, step.factor[row + r]);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      sum[r][v] = step.fresh
                      ? hn::Zero(d)
                      : hn::Mul(factor, hn::Load(d, out + r * step.out_stride + v * kLanes<float>));
    }
  }
  const char* next = fetch ? static_cast<const char*>(step.next_k) : nullptr;
  for (int j = 0; j < step.keys; ++j) {
    if (next != nullptr) {
      FetchRow(next, key_bytes);
      next += key_stride_bytes;
    }
    V w[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) w[r] = hn::Set(d, weights[r * kTileKeys + j]);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const V value = load(j, e + v * kLanes<float>);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) sum[r][v] = hn::MulAdd(w[r], value, sum[r][v]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      hn::Store(sum[r][v], d, out + r * step.out_stride + v * kLanes<float>);
    }
  }
}

template <int kRows, class S>
HWY_NOINLINE void ValueRows(const DecodeStep& step, int row) {
  constexpr int kMost = kRows == 4 ? 4 : kRows == 2 && kDecodeRows == 2 ? 4 : 8;
  const hn::ScalableTag<float> d;
  const int whole = step.value_width - step.value_width % kLanes<float>;
  const int64_t key_bytes = step.width * static_cast<int64_t>(sizeof(S));
  const int64_t key_stride_bytes = step.k_stride * static_cast<int64_t>(sizeof(S));
  const S* values = static_cast<const S*>(step.v);
  const auto load = [&](int j, int at)
                        HWY_ATTR { return LoadStored(d, values + j * step.v_stride + at); };
  int e = 0;
  const auto block = [&](auto count) HWY_ATTR {
    constexpr int kVectors = decltype(count)::value;
    ValueBlock<kRows, kVectors>(step, row, e, row == 0 && e == 0, key_bytes, key_stride_bytes,
                                load);
    e += kVectors * kLanes<float>;
  };
  while (whole - e >= kMost * kLanes<float>) block(std::integral_constant<int, kMost>());
  if (kMost == 8 && whole - e >= 4 * kLanes<float>) block(std::integral_constant<int, 4>());
  if (whole - e >= 2 * kLanes<float>) block(std::integral_constant<int, 2>());
  if (whole - e >= kLanes<float>) block(std::integral_constant<int, 1>());
  if (e == step.value_width) return;
  const int rest = step.value_width - e;
  const auto load_rest = [&](int j, int at) HWY_ATTR {
    return LoadStoredPart(d, values + j * step.v_stride + at, rest);
  };
  ValueBlock<kRows, 1>(step, row, e, row == 0 && e == 0, key_bytes, key_stride_bytes, load_rest);
}

// Whether every value of the step is finite: 0 * x stays 0.
template <class S>
HWY_INLINE bool AllValuesFinite(const DecodeStep& step) {
  const hn::ScalableTag<float> d;
  const int whole = step.value_width - step.value_width % kLanes<float>;
  const int rest = step.value_width - whole;
  auto sum = hn::Zero(d);
  for (int j = 0; j < step.keys; ++j) {
    const S* row = static_cast<const S*>(step.v) + j * step.v_stride;
    for (int e = 0; e < whole; e += kLanes<float>) {
      sum = hn::MulAdd(hn::Zero(d), LoadStored(d, row + e), sum);
    }
    if (rest > 0) sum = hn::MulAdd(hn::Zero(d), LoadStoredPart(d, row + whole, rest), sum);
  }
  return hn::AllTrue(d, hn::Eq(sum, hn::Zero(d)));
}

// Key by key, only to the rows that see it: where a weight of 0 would spread what is not finite.
template <class S>
HWY_NOINLINE void AddSeenValues(const DecodeStep& step) {
  const hn::ScalableTag<float> d;
  for (int row = 0; row < step.rows; ++row) {
    float* out = step.out + row * step.out_stride;
    const auto factor = hn::Set(d, step.factor[row]);
    for (int e = 0; e < step.value_width; e += kLanes<float>) {
      const int count = step.value_width - e < kLanes<float> ? step.value_width - e : kLanes<float>;
      auto sum = step.fresh ? hn::Zero(d) : hn::Mul(factor, hn::Load(d, out + e));
      for (int j = 0; j < step.keys; ++j) {
        if (step.seen[row * kTileKeys + j] == 0) continue;
        const S* value = static_cast<const S*>(step.v) + j * step.v_stride + e;
        sum = hn::MulAdd(hn::Set(d, step.scores[row * kTileKeys + j]),
                         LoadStoredPart(d, value, count), sum);
      }
      hn::Store(sum, d, out + e);
    }
  }
}

template <class S>
void DecodeValues(const DecodeStep& step) {
  if (step.seen != nullptr && !AllValuesFinite<S>(step)) return AddSeenValues<S>(step);
  int row = 0;
  for (; kDecodeRows == 4 && step.rows - row >= 4; row += 4) ValueRows<4, S>(step, row);
  for (; step.rows - row >= 2; row += 2) ValueRows<2, S>(step, row);
  if (row < step.rows) ValueRows<1, S>(step, row);
}

// Largest score of all parts and the sink, and the parts' weights in place of their maxima. Returns
// the row's sum.
HWY_INLINE float WeighParts(DecodeMerge& m, float& maximum, float& moment) {
  maximum = m.sink;
  for (int64_t c = 0; c < m.parts; ++c) {
    if (!(m.maximum[c * m.part_stride] <= maximum)) maximum = m.maximum[c * m.part_stride];
  }
  const float base = maximum == kNoScore ? 0.0f : maximum;
  float sum = m.sink == kNoScore ? 0.0f : PowerOf(m.sink - base);
  moment = sum == 0 ? 0.0f : sum * (m.sink - base);
  for (int64_t c = 0; c < m.parts; ++c) {
    float& own = m.maximum[c * m.part_stride];
    const float part = m.sum[c * m.part_stride];
    if (part == 0) continue;  // nothing of it is seen
    const float shift = own - base;
    own = shift == 0 ? 1.0f : PowerOf(shift);
    sum += own * part;
    if (m.moment != nullptr && !(own == 0)) {
      moment += own * (m.moment[c * m.part_stride] + part * shift);
    }
  }
  return sum;
}

inline void MergeParts(DecodeMerge& m) {
  const hn::ScalableTag<float> d;
  float maximum = 0;
  float moment = 0;
  const float sum = WeighParts(m, maximum, moment);
  const float inverse = 1.0f / sum;
  const auto total = [&](int e) HWY_ATTR {
    auto out = hn::Zero(d);
    for (int64_t c = 0; c < m.parts; ++c) {
      if (m.sum[c * m.part_stride] == 0) continue;
      out = hn::MulAdd(hn::Set(d, m.maximum[c * m.part_stride]),
                       hn::LoadU(d, m.out + c * m.part_stride + e), out);
    }
    return hn::Mul(out, hn::Set(d, inverse));
  };
  const int whole = m.value_width - m.value_width % kLanes<float>;
  if (sum == 0) {
    for (int e = 0; e < m.value_width; ++e) m.row[e] = 0;
  } else {
    for (int e = 0; e < whole; e += kLanes<float>) hn::StoreU(total(e), d, m.row + e);
    if (whole < m.value_width) {
      HWY_ALIGN float rest[kLanes<float>];
      hn::Store(total(whole), d, rest);
      for (int e = whole; e < m.value_width; ++e) m.row[e] = rest[e - whole];
    }
  }
  if (!m.statistics) return;
  constexpr float kNat = 1.0f / kPerNat<float>;
  const float log = std::log(sum);
  m.lse = sum == 0 ? kNoScore : maximum * kNat + log;
  const float entropy = log - moment * kNat * inverse;
  m.entropy = sum == 0 || entropy < 0 ? 0.0f : entropy;  // rounding may leave a hair below 0
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
