// Per-target code: the scores of one tile: products, cap, biases, exclusion.
#if defined(VOLVELLE_KERNELS_ATTENTION_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_ATTENTION_SCORES_INL_H_
#undef VOLVELLE_KERNELS_ATTENTION_SCORES_INL_H_
#else
#define VOLVELLE_KERNELS_ATTENTION_SCORES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/attention_forward.h"
#include "kernels/exp-inl.h"
#include "kernels/lanes-inl.h"
#include "kernels/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whether the bias by offset has to wait until raw scores are there: under a cap, and where
// relative keys join them.
template <class T>
HWY_INLINE bool LateDiagonal(const TileStep<T>& step) {
  return step.diagonal != nullptr && (step.cap != 0 || step.relative != nullptr);
}

// Else it joins them: of the first query and key `from`.
template <class T>
HWY_INLINE const T* RawDiagonal(const TileStep<T>& step, int from) {
  return step.diagonal == nullptr || LateDiagonal(step) ? nullptr : step.diagonal - from;
}

// What raw scores of keys from `from` on get in addition to their products.
template <class T>
HWY_INLINE AddedRows<T> RawRows(const TileStep<T>& step, int from) {
  if (step.relative != nullptr) {
    return {step.relative + from * step.relative_stride, step.relative_stride};
  }
  return {RawDiagonal(step, from), -1};
}

// Raw scores of keys [from, to), with what RawRows adds; kMax: their largest per query goes
// into `maximum`.
template <int kVectors, int kAcross, bool kMax, class T>
HWY_INLINE void Scores(const TileStep<T>& step, int from, int to, T* HWY_RESTRICT maximum) {
  const hn::ScalableTag<T> d;
  ForBlocks<kVectors>(to - from, [&](auto rows, int block) HWY_ATTR {
    const int first = from + block;
    DotBlock<decltype(rows)::value, kVectors, kAcross, kMax>(
        d, step.k + first * step.k_stride, step.k_stride, step.queries, step.width,
        RawRows(step, first), step.scores + first * kAcross * kLanes<T>, maximum);
  });
}

// A bias in units of the scores. A finite one stays finite: masks are made of the lowest number,
// and only -inf takes a key out.
template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE V InUnits(D d, V bias) {
  if (kPerNat<T> == 1) return bias;
  const V most = hn::Set(d, std::numeric_limits<T>::max());
  const V scaled = hn::Mul(bias, hn::Set(d, kPerNat<T>));
  const V held = hn::Min(most, hn::Max(hn::Neg(most), scaled));
  return hn::IfThenElse(hn::Gt(hn::Abs(bias), most), bias, held);
}

// A score of key j and the vector of queries at `lane` with the additive biases that its raw score
// left out.
template <int kAcross, class T, class V>
HWY_INLINE V Biased(const TileStep<T>& step, V score, int j, int lane) {
  const hn::ScalableTag<T> d;
  if (LateDiagonal(step)) {
    score = hn::Add(score, hn::LoadU(d, step.diagonal + lane - j));
  }
  if (step.bias != nullptr) {
    const int64_t at = static_cast<int64_t>(j) * kAcross * kLanes<T> + lane;
    score = hn::Add(score, InUnits(d, hn::Load(d, step.bias + at)));
  }
  return score;
}

// What the vector of queries at `lane` sees of a step's keys.
template <int kAcross, class T>
class Seen {
 public:
  using V = hn::Vec<hn::ScalableTag<T>>;

  HWY_INLINE Seen(const TileStep<T>& step, int lane)
      : step_(step),
        lane_(lane),
        first_(hn::Zero(hn::ScalableTag<T>())),
        last_(hn::Zero(hn::ScalableTag<T>())) {
    if (step.first == nullptr) return;
    first_ = hn::Load(hn::ScalableTag<T>(), step.first + lane);
    last_ = hn::Load(hn::ScalableTag<T>(), step.last + lane);
  }

  // `value` where key j is seen, else `other`, whatever `value` is there.
  HWY_INLINE V Kept(V value, int j, V other) const {
    const hn::ScalableTag<T> d;
    if (step_.first != nullptr) {
      const V key = hn::Set(d, static_cast<T>(j + step_.key_base));
      value = hn::IfThenElse(hn::And(hn::Ge(key, first_), hn::Lt(key, last_)), value, other);
    }
    if (step_.select != nullptr) {
      const int64_t at = static_cast<int64_t>(j) * kAcross * kLanes<T> + lane_;
      value = hn::IfThenElse(hn::Ne(hn::Load(d, step_.select + at), hn::Zero(d)), value, other);
    }
    return value;
  }

 private:
  const TileStep<T>& step_;
  int lane_;
  V first_, last_;
};

// Cap, additive biases and exclusion over the raw scores of keys [from, to); the largest per query
// that is left goes into `maximum`. Excluded scores become -inf by selection, whatever they were.
template <int kVectors, int kAcross, bool kBiased, bool kMasked, class T>
HWY_NOINLINE void ShapeScores(const TileStep<T>& step, int from, int to, T* HWY_RESTRICT maximum) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kPanel = kAcross * kLanes<T>;
  const V none = hn::Set(d, -std::numeric_limits<T>::infinity());
  const V cap = hn::Set(d, step.cap);
  for (int v = 0; v < kVectors; ++v) {
    const int lane = v * kLanes<T>;
    const Seen<kAcross, T> seen(step, lane);
    V top = hn::Load(d, maximum + lane);
    for (int j = from; j < to; ++j) {
      T* HWY_RESTRICT place = step.scores + j * kPanel + lane;
      V score = hn::Load(d, place);
      if (kBiased) {
        if (step.cap != 0) score = hn::Mul(cap, hn::Tanh(d, score));
        score = Biased<kAcross>(step, score, j, lane);
      }
      if (kMasked) score = seen.Kept(score, j, none);
      hn::Store(score, d, place);
      top = hn::Max(top, score);
    }
    hn::Store(top, d, maximum + lane);
  }
}

// The final scores of the step, in place, and the running maximum raised to theirs.
// `raw(kMax, from, to)` puts down the raw scores of some keys, raising the maximum if kMax.
template <int kVectors, int kAcross, class T, class Raw>
HWY_INLINE void FinalScoresOf(const TileStep<T>& step, T* HWY_RESTRICT maximum, Raw&& raw) {
  constexpr std::true_type kMax;
  constexpr std::false_type kNoMax;
  const bool biased = step.cap != 0 || step.bias != nullptr || LateDiagonal(step);
  const bool masked = step.first != nullptr || step.select != nullptr;
  if (!biased && !masked) {
    raw(kMax, 0, step.keys);
  } else if (!biased && step.select == nullptr &&
             step.all_last - step.all_first >= kBlockRows<kVectors>) {
    // Only the keys outside [all_first, all_last) are cut by the intervals.
    raw(kNoMax, 0, step.all_first);
    raw(kMax, step.all_first, step.all_last);
    raw(kNoMax, step.all_last, step.keys);
    ShapeScores<kVectors, kAcross, false, true>(step, 0, step.all_first, maximum);
    ShapeScores<kVectors, kAcross, false, true>(step, step.all_last, step.keys, maximum);
  } else {
    raw(kNoMax, 0, step.keys);
    if (biased && masked) {
      ShapeScores<kVectors, kAcross, true, true>(step, 0, step.keys, maximum);
    } else if (biased) {
      ShapeScores<kVectors, kAcross, true, false>(step, 0, step.keys, maximum);
    } else {
      ShapeScores<kVectors, kAcross, false, true>(step, 0, step.keys, maximum);
    }
  }
}

template <int kVectors, int kAcross, class T>
HWY_INLINE void FinalScores(const TileStep<T>& step, T* HWY_RESTRICT maximum) {
  FinalScoresOf<kVectors, kAcross>(step, maximum, [&](auto max, int from, int to) HWY_ATTR {
    Scores<kVectors, kAcross, decltype(max)::value>(step, from, to, maximum);
  });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
