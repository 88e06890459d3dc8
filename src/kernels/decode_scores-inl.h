// Per-target code: rows of queries times rows of keys, both read along their elements.
#if defined(VOLVELLE_KERNELS_DECODE_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_DECODE_SCORES_INL_H_
#undef VOLVELLE_KERNELS_DECODE_SCORES_INL_H_
#else
#define VOLVELLE_KERNELS_DECODE_SCORES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "kernels/attention_decode.h"
#include "kernels/lanes-inl.h"
#include "kernels/stored_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows held in registers at once against four keys: 4 x 4 sums, or 2 x 4 where 16 registers are
// all.
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86 || HWY_ARCH_ARM_A64
inline constexpr int kDecodeRows = 4;
#else
inline constexpr int kDecodeRows = 2;
#endif

// Adds the upper half of a vector's blocks to the lower until four lanes are left.
template <class D, class V>
HWY_INLINE void StoreBlockSum([[maybe_unused]] D d, V sum, float* to) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) == 4) {
    hn::StoreU(sum, d, to);
  } else {
    const hn::Half<D> half;
    StoreBlockSum(half, hn::Add(hn::LowerHalf(half, sum), hn::UpperHalf(half, sum)), to);
  }
#endif
}

// The sums over the lanes of four vectors, side by side: to[i] is that of a[i], each in the same
// order of additions.
template <class D, class V>
HWY_INLINE void StoreSumsOfFour([[maybe_unused]] D d, const V* a, float* to) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < 4; ++i) to[i] = hn::GetLane(a[i]);
#else
  const hn::Repartition<uint64_t, D> d64;
  const V even = hn::Add(hn::InterleaveLower(d, a[0], a[1]), hn::InterleaveUpper(d, a[0], a[1]));
  const V odd = hn::Add(hn::InterleaveLower(d, a[2], a[3]), hn::InterleaveUpper(d, a[2], a[3]));
  const auto low = hn::InterleaveLower(d64, hn::BitCast(d64, even), hn::BitCast(d64, odd));
  const auto high = hn::InterleaveUpper(d64, hn::BitCast(d64, even), hn::BitCast(d64, odd));
  StoreBlockSum(d, hn::Add(hn::BitCast(d, low), hn::BitCast(d, high)), to);
#endif
}

inline void FetchRow(const void* row, int64_t bytes) {
  for (int64_t b = 0; b < bytes; b += 64) {
    __builtin_prefetch(static_cast<const char*>(row) + b, 0, 3);
  }
}

// Scores of kRows rows from `row` on against 4 * kQuads keys from `key` on. Keys behind the last
// are the last again; their scores are written and not used.
template <int kRows, int kQuads, class S>
HWY_INLINE void ScoreBlock(const DecodeStep& step, int row, int key) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kKeys = 4 * kQuads;
  const S* keys[kKeys];
#pragma GCC unroll 8
  for (int j = 0; j < kKeys; ++j) {
    const int at = key + j < step.keys ? key + j : step.keys - 1;
    keys[j] = static_cast<const S*>(step.k) + at * step.k_stride;
  }
  const float* queries = step.queries + row * step.query_stride;
  V sum[kRows][kKeys];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < kKeys; ++j) sum[r][j] = hn::Zero(d);
  }
  const auto add = [&](int i, auto&& load) HWY_ATTR {
    V q[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) q[r] = hn::Load(d, queries + r * step.query_stride + i);
#pragma GCC unroll 8
    for (int j = 0; j < kKeys; ++j) {
      const V k = load(keys[j] + i);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) sum[r][j] = hn::MulAdd(q[r], k, sum[r][j]);
    }
  };
  const int whole = step.width - step.width % kLanes<float>;
  for (int i = 0; i < whole; i += kLanes<float>) {
    add(i, [&](const S* from) HWY_ATTR { return LoadStored(d, from); });
  }
  if (whole < step.width) {
    const int rest = step.width - whole;
    add(whole, [&](const S* from) HWY_ATTR { return LoadStoredPart(d, from, rest); });
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int quad = 0; quad < kQuads; ++quad) {
      StoreSumsOfFour(d, sum[r] + 4 * quad, step.scores + (row + r) * kTileKeys + key + 4 * quad);
    }
  }
}

// All keys against kRows rows; kFetch: asks for the keys' values on the way.
template <int kRows, bool kFetch, class S>
HWY_NOINLINE void ScoreRows(const DecodeStep& step, int row) {
  constexpr int kQuads = kRows == 1 ? 2 : 1;
  constexpr int kKeys = 4 * kQuads;
  const int64_t value_bytes = step.value_width * static_cast<int64_t>(sizeof(S));
  for (int key = 0; key < step.keys; key += kKeys) {
    if (kFetch) {
      const int last = key + kKeys < step.keys ? key + kKeys : step.keys;
      for (int j = key; j < last; ++j) {
        FetchRow(static_cast<const S*>(step.v) + j * step.v_stride, value_bytes);
      }
    }
    ScoreBlock<kRows, kQuads, S>(step, row, key);
  }
}

template <class S>
void DecodeScores(const DecodeStep& step) {
  int row = 0;
  const auto rows = [&](auto count) HWY_ATTR {
    constexpr int kRows = decltype(count)::value;
    if (row == 0) {
      ScoreRows<kRows, true, S>(step, row);
    } else {
      ScoreRows<kRows, false, S>(step, row);
    }
    row += kRows;
  };
  while (kDecodeRows == 4 && step.rows - row >= 4) rows(std::integral_constant<int, 4>());
  while (step.rows - row >= 2) rows(std::integral_constant<int, 2>());
  if (row < step.rows) rows(std::integral_constant<int, 1>());
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
