// Per-target code: from a panel's running sums to rows of output.
#if defined(VOLVELLE_KERNELS_ATTENTION_FINISH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_ATTENTION_FINISH_INL_H_
#undef VOLVELLE_KERNELS_ATTENTION_FINISH_INL_H_
#else
#define VOLVELLE_KERNELS_ATTENTION_FINISH_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>

#include "kernels/attention_forward.h"
#include "kernels/exp-inl.h"
#include "kernels/lanes-inl.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Log-sum-exp and entropy of one vector of queries.
template <class T, class V>
HWY_INLINE void Statistics(const PanelFinish<T>& panel, int lane, V sum, V inverse) {
  const hn::ScalableTag<T> d;
  const V one = hn::Set(d, T{1});
  const V nat = hn::Set(d, T{1} / kPerNat<T>);
  const auto empty = hn::Eq(sum, hn::Zero(d));
  const auto sound = hn::Eq(sum, sum);  // Log does not keep a NaN on every target
  V log = hn::Log(d, hn::IfThenElse(hn::And(sound, hn::Gt(sum, hn::Zero(d))), sum, one));
  log = hn::IfThenElse(sound, log, sum);
  if (panel.lse != nullptr) {
    const V maximum = hn::Load(d, panel.maximum + lane);
    const V none = hn::Set(d, -std::numeric_limits<T>::infinity());
    hn::Store(hn::IfThenElse(empty, none, hn::MulAdd(maximum, nat, log)), d, panel.lse + lane);
  }
  if (panel.entropy != nullptr) {
    const V mean = hn::Mul(hn::Mul(hn::Load(d, panel.moment + lane), nat), inverse);
    const V entropy = hn::Sub(log, mean);
    // Rounding may leave a one-key row a hair below 0.
    const V bounded = hn::IfThenElse(hn::Lt(entropy, hn::Zero(d)), hn::Zero(d), entropy);
    hn::Store(hn::IfThenZeroElse(empty, bounded), d, panel.entropy + lane);
  }
}

// Divides by the sum, turns lanes into rows and stores them.
template <class T>
bool Finish(const PanelFinish<T>& panel) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kSide = kSquare<T>;
  const int columns = panel.vectors * kLanes<T>;
  const int whole = panel.value_width - panel.value_width % kSide;
  V check = hn::Zero(d);  // NaN once anything stored is not finite
  for (int lane = 0; lane < columns && lane < panel.queries; lane += kLanes<T>) {
    const V sum = hn::Load(d, panel.sum + lane);
    const auto empty = hn::Eq(sum, hn::Zero(d));
    const V inverse = hn::Div(hn::Set(d, T{1}), sum);
    const auto normalised = [&](int e) HWY_ATTR {
      const V value = hn::Mul(hn::Load(d, panel.out + e * columns + lane), inverse);
      const V kept = hn::IfThenZeroElse(empty, value);
      check = hn::MulAdd(hn::Zero(d), kept, check);
      return kept;
    };
    const int rows = panel.queries - lane < kLanes<T> ? panel.queries - lane : kLanes<T>;
    int e = 0;
    for (; rows == kLanes<T> && e < whole; e += kSide) {
      V a[kSide];
#pragma GCC unroll 4
      for (int i = 0; i < kSide; ++i) a[i] = normalised(e + i);
      TransposeInBlocks(d, a);
#pragma GCC unroll 4
      for (int i = 0; i < kSide; ++i) {
        StoreBlocks(d, a[i], panel.rows + (lane + i) * panel.row_stride + e,
                    kSide * panel.row_stride);
      }
    }
    const int rest = e;
    for (; e < panel.value_width; ++e) {
      hn::Store(normalised(e), d, panel.out + e * columns + lane);
    }
    TransposeSquares(panel.out + rest * columns + lane, columns, panel.value_width - rest, rows,
                     T{1}, panel.rows + lane * panel.row_stride + rest, panel.row_stride);
    if (panel.lse != nullptr || panel.entropy != nullptr) Statistics(panel, lane, sum, inverse);
  }
  return hn::AllTrue(d, hn::Eq(check, hn::Zero(d)));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
