// Per-target code: weights of one tile from the saved log-sum-exp, and the gradients of its scores.
#if defined(VOLVELLE_KERNELS_ATTENTION_GRADIENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_ATTENTION_GRADIENTS_INL_H_
#undef VOLVELLE_KERNELS_ATTENTION_GRADIENTS_INL_H_
#else
#define VOLVELLE_KERNELS_ATTENTION_GRADIENTS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "kernels/attention_backward.h"
#include "kernels/attention_scores-inl.h"
#include "kernels/exp-inl.h"
#include "kernels/lanes-inl.h"
#include "kernels/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A weight from its score. What is below 2^-100 (float64: 2^-979) counts as 0: the gradients of
// such scores would be subnormal numbers, which slow every product that they enter a hundredfold.
template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE V Weight(D d, V score, V lse) {
  constexpr T kLeast = sizeof(T) == 8 ? T{-679} : T{-100};
  return Power(d, hn::Sub(score, lse), kLeast);
}

// Scores straight to weights while they are in registers.
template <int kRows, int kVectors, int kAcross, class T>
HWY_NOINLINE void WeightBlock(const BackwardStep<T>& step, int first) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const TileStep<T>& tile = step.tile;
  V sum[kRows][kVectors];
  DotSums<kRows, kVectors, kAcross>(d, tile.k + first * tile.k_stride, tile.k_stride, tile.queries,
                                    tile.width, sum);
  const AddedRows<T> added = RawRows(tile, first);
  if (added.at != nullptr) AddRowsTo<kRows, kVectors>(d, added, sum);
  T* HWY_RESTRICT out = tile.scores + first * kAcross * kLanes<T>;
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const V lse = hn::Load(d, step.lse + v * kLanes<T>);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      hn::Store(Weight(d, sum[r][v], lse), d, out + (r * kAcross + v) * kLanes<T>);
    }
  }
}

// The gradients of the weights straight to those of the scores.
template <int kRows, int kVectors, int kAcross, class T>
HWY_NOINLINE void ScoreGradBlock(const BackwardStep<T>& step, int first) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const TileStep<T>& tile = step.tile;
  V sum[kRows][kVectors];
  DotSums<kRows, kVectors, kAcross>(d, tile.v + first * tile.v_stride, tile.v_stride,
                                    step.grad_output, tile.value_width, sum);
  const int64_t place = static_cast<int64_t>(first) * kAcross * kLanes<T>;
  const T* HWY_RESTRICT weights = tile.scores + place;
  T* HWY_RESTRICT out = step.score_grads + place;
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const V delta = hn::Load(d, step.delta + v * kLanes<T>);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const int64_t at = (r * kAcross + v) * kLanes<T>;
      hn::Store(hn::Mul(hn::Load(d, weights + at), hn::Sub(sum[r][v], delta)), d, out + at);
    }
  }
}

// Raw scores of keys [from, to) to weights, through cap, biases and exclusion.
template <int kVectors, int kAcross, class T>
HWY_NOINLINE void ShapeWeights(const BackwardStep<T>& step, int from, int to) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kPanel = kAcross * kLanes<T>;
  const TileStep<T>& tile = step.tile;
  const V cap = hn::Set(d, tile.cap);
  const V one = hn::Set(d, T{1});
  for (int v = 0; v < kVectors; ++v) {
    const int lane = v * kLanes<T>;
    const V lse = hn::Load(d, step.lse + lane);
    const Seen<kAcross, T> seen(tile, lane);
    const V zero = hn::Zero(d);
    for (int j = from; j < to; ++j) {
      T* HWY_RESTRICT place = tile.scores + j * kPanel + lane;
      V score = hn::Load(d, place);
      if (tile.cap != 0) {
        const V t = hn::Tanh(d, score);
        const V slope = hn::NegMulAdd(t, t, one);
        hn::Store(seen.Kept(slope, j, zero), d, step.cap_slopes + j * kPanel + lane);
        score = hn::Mul(cap, t);
      }
      score = Biased<kAcross>(tile, score, j, lane);
      hn::Store(seen.Kept(Weight(d, score, lse), j, zero), d, place);
    }
  }
}

// The same for raw gradients of the weights, through dropout and exclusion.
template <int kVectors, int kAcross, class T>
HWY_NOINLINE void ShapeScoreGrads(const BackwardStep<T>& step, int from, int to) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kPanel = kAcross * kLanes<T>;
  const TileStep<T>& tile = step.tile;
  for (int v = 0; v < kVectors; ++v) {
    const int lane = v * kLanes<T>;
    const V delta = hn::Load(d, step.delta + lane);
    const Seen<kAcross, T> seen(tile, lane);
    const V zero = hn::Zero(d);
    for (int j = from; j < to; ++j) {
      const int64_t at = static_cast<int64_t>(j) * kPanel + lane;
      V raw = hn::Load(d, step.score_grads + at);
      if (tile.factors != nullptr) raw = hn::Mul(raw, hn::Load(d, tile.factors + at));
      const V grad = hn::Mul(hn::Load(d, tile.scores + at), hn::Sub(raw, delta));
      hn::Store(seen.Kept(grad, j, zero), d, step.score_grads + at);
    }
  }
}

// The keys of a step that need no shaping: [from, to).
struct PlainKeys {
  int from, to;
};

template <int kVectors, class T>
HWY_INLINE PlainKeys PlainWeightKeys(const TileStep<T>& tile) {
  if (tile.cap != 0 || tile.bias != nullptr || tile.select != nullptr || LateDiagonal(tile)) {
    return {0, 0};
  }
  if (tile.first == nullptr) return {0, tile.keys};
  if (tile.all_last - tile.all_first < kBlockRows<kVectors>) return {0, 0};
  return {tile.all_first, tile.all_last};
}

template <int kVectors, class T>
HWY_INLINE PlainKeys PlainGradKeys(const TileStep<T>& tile) {
  if (tile.factors != nullptr || tile.select != nullptr) return {0, 0};
  if (tile.first == nullptr) return {0, tile.keys};
  if (tile.all_last - tile.all_first < kBlockRows<kVectors>) return {0, 0};
  return {tile.all_first, tile.all_last};
}

template <int kVectors, int kAcross, class T>
HWY_INLINE void WeightsOf(const BackwardStep<T>& step) {
  const TileStep<T>& tile = step.tile;
  const PlainKeys plain = PlainWeightKeys<kVectors>(tile);
  ForBlocks<kVectors>(plain.to - plain.from, [&](auto rows, int block) HWY_ATTR {
    WeightBlock<decltype(rows)::value, kVectors, kAcross>(step, plain.from + block);
  });
  const auto shaped = [&](int from, int to) HWY_ATTR {
    if (from == to) return;
    Scores<kVectors, kAcross, false>(tile, from, to, static_cast<T*>(nullptr));
    ShapeWeights<kVectors, kAcross>(step, from, to);
  };
  shaped(0, plain.from);
  shaped(plain.to, tile.keys);
}

template <int kVectors, int kAcross, class T>
HWY_INLINE void ScoreGradsOf(const BackwardStep<T>& step) {
  const hn::ScalableTag<T> d;
  const TileStep<T>& tile = step.tile;
  const PlainKeys plain = PlainGradKeys<kVectors>(tile);
  ForBlocks<kVectors>(plain.to - plain.from, [&](auto rows, int block) HWY_ATTR {
    ScoreGradBlock<decltype(rows)::value, kVectors, kAcross>(step, plain.from + block);
  });
  const auto shaped = [&](int from, int to) HWY_ATTR {
    if (from == to) return;
    ForBlocks<kVectors>(to - from, [&](auto rows, int block) HWY_ATTR {
      const int first = from + block;
      DotBlock<decltype(rows)::value, kVectors, kAcross, false>(
          d, tile.v + first * tile.v_stride, tile.v_stride, step.grad_output, tile.value_width,
          AddedRows<T>(), step.score_grads + first * kAcross * kLanes<T>, static_cast<T*>(nullptr));
    });
    ShapeScoreGrads<kVectors, kAcross>(step, from, to);
  };
  shaped(0, plain.from);
  shaped(plain.to, tile.keys);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
