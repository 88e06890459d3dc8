// The forward pass of attention over bfloat16 pairs, for instruction sets that multiply them.
#include "kernels/attention_pairs.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_pairs.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>

#include "kernels/attention_scores-inl.h"
#include "kernels/attention_values-inl.h"
#include "kernels/lanes-inl.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3 && HWY_ARCH_X86

// Multiplies raw scores of keys [from, to) by the factor and adds `diagonal`, unless it is null, of
// key 0; kMax: the largest goes into `maximum`.
template <int kVectors, bool kMax, bool kDiagonal>
HWY_INLINE void ScaleScoresOf(float* HWY_RESTRICT scores, float by,
                              const float* HWY_RESTRICT diagonal, int from, int to,
                              float* HWY_RESTRICT maximum) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kPanel = kVectors * kLanes<float>;
  const V factor = hn::Set(d, by);
  V top[kVectors];
  for (int v = 0; v < kVectors; ++v) top[v] = hn::Load(d, maximum + v * kLanes<float>);
  for (int j = from; j < to; ++j) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      float* HWY_RESTRICT place = scores + j * kPanel + v * kLanes<float>;
      const V raw = hn::Load(d, place);
      const V score = kDiagonal
                          ? hn::MulAdd(factor, raw, hn::LoadU(d, diagonal + v * kLanes<float> - j))
                          : hn::Mul(factor, raw);
      hn::Store(score, d, place);
      if (kMax) top[v] = hn::Max(top[v], score);
    }
  }
  for (int v = 0; kMax && v < kVectors; ++v) hn::Store(top[v], d, maximum + v * kLanes<float>);
}

template <int kVectors, bool kMax>
HWY_INLINE void ScaleScores(float* HWY_RESTRICT scores, float by,
                            const float* HWY_RESTRICT diagonal, int from, int to,
                            float* HWY_RESTRICT maximum) {
  if (diagonal != nullptr) {
    ScaleScoresOf<kVectors, kMax, true>(scores, by, diagonal, from, to, maximum);
  } else {
    ScaleScoresOf<kVectors, kMax, false>(scores, by, diagonal, from, to, maximum);
  }
}

// Scores of odd keys and odd queries, from float32 rows, in place of those of pairs.
template <int kVectors>
HWY_NOINLINE void ReplaceOddScores(const TileStep<float>& step, const PairStep& pair) {
  const hn::ScalableTag<float> d;
  constexpr int kPanel = kVectors * kLanes<float>;
  TileStep<float> exact = step;
  exact.scores = pair.scores;
  HWY_ALIGN float unused[kPanel] = {};
  Scores<kVectors, kVectors, false>(exact, 0, step.keys, unused);
  for (int v = 0; v < kVectors; ++v) {
    const int lane = v * kLanes<float>;
    auto odd_query = hn::Zero(d);
    if (pair.odd_queries != nullptr) odd_query = hn::Load(d, pair.odd_queries + lane);
    for (int j = 0; j < step.keys; ++j) {
      const float key = pair.odd_keys != nullptr && pair.odd_keys[j] != 0 ? 1.0F : 0.0F;
      const auto odd = hn::Ne(hn::Add(odd_query, hn::Set(d, key)), hn::Zero(d));
      const int at = j * kPanel + lane;
      const auto chosen =
          hn::IfThenElse(odd, hn::Load(d, exact.scores + at), hn::Load(d, step.scores + at));
      hn::Store(chosen, d, step.scores + at);
    }
  }
}

// Rounds the weights of keys 2p and 2p + 1 to bfloat16 and lays them side by side: the high half
// of a float32 is a bfloat16, and half a unit added first rounds it to nearest (ties upwards, which
// moves no weight by more than to even would). A NaN may lose itself; the row's sum remembers it.
template <int kVectors>
HWY_NOINLINE void RoundWeights(const TileStep<float>& step, const PairStep& pair) {
  constexpr int kPanel = kVectors * kLanes<float>;
  const __m512i half = _mm512_set1_epi32(0x8000);
  HWY_ALIGN std::uint16_t order[32];
  for (int i = 0; i < 16; ++i) {
    order[2 * i] = static_cast<std::uint16_t>(2 * i + 1);
    order[2 * i + 1] = static_cast<std::uint16_t>(32 + 2 * i + 1);
  }
  const __m512i index = _mm512_load_si512(order);
  const auto rounded = [&](const float* place)
                           HWY_ATTR { return _mm512_add_epi32(_mm512_load_si512(place), half); };
  int p = 0;
  for (; p < step.keys / 2; ++p) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      const float* place = step.scores + 2 * p * kPanel + v * kLanes<float>;
      _mm512_store_si512(pair.weights + p * kPanel + v * kLanes<float>,
                         _mm512_permutex2var_epi16(rounded(place), index, rounded(place + kPanel)));
    }
  }
  for (; p < pair.key_rows / 2; ++p) {
    for (int v = 0; v < kVectors; ++v) {
      __m512i last = _mm512_setzero_si512();
      if (2 * p < step.keys) {
        last = _mm512_permutex2var_epi16(rounded(step.scores + 2 * p * kPanel + v * kLanes<float>),
                                         index, last);
      }
      _mm512_store_si512(pair.weights + p * kPanel + v * kLanes<float>, last);
    }
  }
}

void PairScores(const TileStep<float>& step, const PairStep& pair,
                const PairMultiplier& multiplier) {
  const int panel = step.vectors * kLanes<float>;
  multiplier.multiply({.left = pair.k,
                       .left_stride = pair.k_stride,
                       .right = pair.queries,
                       .right_stride = panel,
                       .out = step.scores,
                       .out_stride = panel,
                       .rows = pair.key_rows,
                       .pairs = pair.pairs,
                       .columns = panel,
                       .factor = nullptr});
}

// Exponentials in halves, so that the multiplier does not wait too long for its turn.
template <int kVectors, bool kMoment>
HWY_INLINE void PairExponentials(const TileStep<float>& step, const PairMultiplier& multiplier,
                                 const float* raised, float* factor) {
  const int half = step.keys / 2;
  TileStep<float> part = step;
  part.keys = half;
  Exponentials<kVectors, kVectors, kMoment>(part, raised, factor);
  if (multiplier.stay_awake != nullptr) multiplier.stay_awake();
  HWY_ALIGN float unused[kVectors * kLanes<float>];
  part.keys = step.keys - half;
  part.scores += half * kVectors * kLanes<float>;
  Exponentials<kVectors, kVectors, kMoment>(part, raised, unused);
  if (multiplier.stay_awake != nullptr) multiplier.stay_awake();
}

template <int kVectors>
HWY_INLINE void PairSoftmaxOf(const TileStep<float>& step, const PairStep& pair,
                              const PairMultiplier& multiplier, float* factor) {
  const hn::ScalableTag<float> d;
  HWY_ALIGN float raised[kVectors * kLanes<float>];
  for (int v = 0; v < kVectors; ++v) {
    const int lane = v * kLanes<float>;
    hn::Store(hn::Load(d, step.maximum + lane), d, raised + lane);
  }
  float by = pair.factor;
  const float* diagonal = RawDiagonal(step, 0);
  if (pair.odd_keys != nullptr || pair.odd_queries != nullptr) {
    ScaleScores<kVectors, false>(step.scores, by, diagonal, 0, step.keys, raised);
    ReplaceOddScores<kVectors>(step, pair);
    by = 1;
    diagonal = nullptr;
  }
  FinalScoresOf<kVectors, kVectors>(step, raised, [&](auto max, int from, int to) HWY_ATTR {
    ScaleScores<kVectors, decltype(max)::value>(step.scores, by, diagonal, from, to, raised);
  });
  if (multiplier.stay_awake != nullptr) multiplier.stay_awake();
  if (step.moment != nullptr) {
    PairExponentials<kVectors, true>(step, multiplier, raised, factor);
  } else {
    PairExponentials<kVectors, false>(step, multiplier, raised, factor);
  }
  if (step.factors != nullptr) DropWeights<kVectors, kVectors>(step);
  RoundWeights<kVectors>(step, pair);
}

void PairSoftmax(const TileStep<float>& step, const PairStep& pair,
                 const PairMultiplier& multiplier, float* factor) {
  if (step.vectors == 2) {
    PairSoftmaxOf<2>(step, pair, multiplier, factor);
  } else {
    PairSoftmaxOf<1>(step, pair, multiplier, factor);
  }
}

void PairValues(const TileStep<float>& step, const PairStep& pair, const PairMultiplier& multiplier,
                const float* factor) {
  const int panel = step.vectors * kLanes<float>;
  multiplier.multiply({.left = pair.v,
                       .left_stride = kTileKeys,
                       .right = pair.weights,
                       .right_stride = panel,
                       .out = step.out,
                       .out_stride = panel,
                       .rows = pair.value_rows,
                       .pairs = pair.key_rows / 2,
                       .columns = panel,
                       .factor = step.fresh ? nullptr : factor});
  for (int j = 0; pair.odd_values != nullptr && j < step.keys; ++j) {
    if (pair.odd_values[j] == 0) continue;
    if (step.vectors == 2) {
      AddSeenValue<2, 2>(step, j);
    } else {
      AddSeenValue<1, 1>(step, j);
    }
  }
}

bool FindOddRows(const uint16_t* HWY_RESTRICT rows, int64_t stride, int count, int width,
                 uint8_t* HWY_RESTRICT odd) {
  // Twice the bits: no sign, the exponent on top. Less one, 0 is the largest.
  constexpr uint16_t kLeast = (127 - 50) << 8, kBeyond = (127 + 50) << 8;
  const __m512i one = _mm512_set1_epi16(1);
  const int whole = width - width % 32;
  const __mmask32 rest = (uint32_t{1} << (width % 32)) - 1;
  const auto look = [&](const uint16_t* row, __m512i& least, __m512i& most) HWY_ATTR {
    const auto add = [&](__m512i x) HWY_ATTR {
      x = _mm512_add_epi16(x, x);
      most = _mm512_max_epu16(most, x);
      least = _mm512_min_epu16(least, _mm512_sub_epi16(x, one));
    };
    for (int i = 0; i < whole; i += 32) add(_mm512_loadu_si512(row + i));
    if (rest != 0) add(_mm512_maskz_loadu_epi16(rest, row + whole));
  };
  const auto fits = [&](__m512i least, __m512i most) HWY_ATTR {
    const auto low = static_cast<short>(static_cast<uint16_t>(kLeast - 1));
    const auto high = static_cast<short>(kBeyond);
    return _mm512_cmplt_epu16_mask(least, _mm512_set1_epi16(low)) == 0 &&
           _mm512_cmpge_epu16_mask(most, _mm512_set1_epi16(high)) == 0;
  };
  __m512i least[2] = {_mm512_set1_epi16(-1), _mm512_set1_epi16(-1)};
  __m512i most[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  for (int j = 0; j < count; ++j) look(rows + j * stride, least[j & 1], most[j & 1]);
  if (fits(least[0], most[0]) && fits(least[1], most[1])) return false;
  for (int j = 0; j < count; ++j) {
    least[0] = _mm512_set1_epi16(-1);
    most[0] = _mm512_setzero_si512();
    look(rows + j * stride, least[0], most[0]);
    odd[j] = fits(least[0], most[0]) ? 0 : 1;
  }
  return true;
}

void InterleaveQueries(const uint16_t* HWY_RESTRICT rows, int pairs, int panel,
                       uint32_t* HWY_RESTRICT to) {
  const hn::ScalableTag<uint32_t> d;
  const auto* words = reinterpret_cast<const uint32_t*>(rows);
  for (int r = 0; r < panel; r += kLanes<float>) {
    for (int p = 0; p < pairs; p += 4) {
      hn::Vec<decltype(d)> a[4];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) a[i] = LoadBlocks(d, words + (r + i) * pairs + p, 4 * pairs);
      TransposeInBlocks(d, a);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) hn::Store(a[i], d, to + (p + i) * panel + r);
    }
  }
}

// Columns [column, column + 8) of 32 rows, of which `load(row)` gives 128 bits.
template <class Load>
HWY_INLINE void TransposeStrip(Load&& load, uint16_t* HWY_RESTRICT to) {
  __m512i a[8], b[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    __m512i four = _mm512_castsi128_si512(load(i));
    four = _mm512_inserti32x4(four, load(i + 8), 1);
    four = _mm512_inserti32x4(four, load(i + 16), 2);
    a[i] = _mm512_inserti32x4(four, load(i + 24), 3);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    b[2 * i] = _mm512_unpacklo_epi16(a[2 * i], a[2 * i + 1]);
    b[2 * i + 1] = _mm512_unpackhi_epi16(a[2 * i], a[2 * i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    a[4 * i] = _mm512_unpacklo_epi32(b[4 * i], b[4 * i + 2]);
    a[4 * i + 1] = _mm512_unpackhi_epi32(b[4 * i], b[4 * i + 2]);
    a[4 * i + 2] = _mm512_unpacklo_epi32(b[4 * i + 1], b[4 * i + 3]);
    a[4 * i + 3] = _mm512_unpackhi_epi32(b[4 * i + 1], b[4 * i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    _mm512_store_si512(to + 2 * i * kTileKeys, _mm512_unpacklo_epi64(a[i], a[i + 4]));
    _mm512_store_si512(to + (2 * i + 1) * kTileKeys, _mm512_unpackhi_epi64(a[i], a[i + 4]));
  }
}

void TransposeValues(const uint16_t* HWY_RESTRICT rows, int64_t stride, int count, int width,
                     const uint8_t* odd, int value_rows, uint16_t* HWY_RESTRICT to) {
  for (int j = 0; j < count; j += 32) {
    const uint16_t* HWY_RESTRICT strip = rows + j * stride;
    const bool whole = odd == nullptr && j + 32 <= count;
    for (int e = 0; e < value_rows; e += 8) {
      uint16_t* HWY_RESTRICT place = to + e * kTileKeys + j;
      if (whole && e + 8 <= width) {
        TransposeStrip(
            [&](int r) HWY_ATTR {
              return _mm_loadu_si128(reinterpret_cast<const __m128i*>(strip + r * stride + e));
            },
            place);
        continue;
      }
      const int columns = e >= width ? 0 : (width - e < 8 ? width - e : 8);
      const auto mask = static_cast<__mmask8>((1U << columns) - 1);
      TransposeStrip(
          [&](int r) HWY_ATTR {
            const bool zero = j + r >= count || (odd != nullptr && odd[j + r] != 0) || mask == 0;
            return zero ? _mm_setzero_si128() : _mm_maskz_loadu_epi16(mask, strip + r * stride + e);
          },
          place);
    }
  }
}

const PairKernels* PairTable() {
  static constexpr PairKernels kTable{PairScores,  PairSoftmax,       PairValues,
                                      FindOddRows, InterleaveQueries, TransposeValues};
  return &kTable;
}

#else

const PairKernels* PairTable() { return nullptr; }

#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(PairTable);

const PairKernels* pair_kernels() { return HWY_DYNAMIC_DISPATCH(PairTable)(); }

}  // namespace volvelle::kernels
#endif
