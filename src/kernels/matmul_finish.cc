#include "kernels/matmul_finish.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul_finish.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "kernels/activation-inl.h"
#include "kernels/lanes-inl.h"
#include "kernels/matmul.h"
#include "kernels/stored_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Where one row of 32 goes; S is float or BFloat16.
template <class S>
struct FinishRow {
  const float* residual;  // null or 32 elements
  S* out;
  S* before;  // null: not kept
  S* gate_before;
};

template <Curve kCurve, class S>
HWY_INLINE void FinishSumsRow(const FinishStep& step, int64_t row, const FinishRow<S>& to) {
  const hn::ScalableTag<float> d;
  const int64_t first = row * kPanelColumns;
#pragma GCC unroll 2
  for (int c = 0; c < kPanelColumns; c += kLanes<float>) {
    auto x = hn::Load(d, step.sums + first + c);
    if (step.bias != nullptr) x = hn::Add(x, hn::Load(d, step.bias + c));
    if (to.before != nullptr) StoreStored(x, d, to.before + c);
    if (step.gate != nullptr) {
      auto gate = hn::Load(d, step.gate + first + c);
      if (step.gate_bias != nullptr) gate = hn::Add(gate, hn::Load(d, step.gate_bias + c));
      if (to.gate_before != nullptr) StoreStored(gate, d, to.gate_before + c);
      x = hn::Mul(Activated<kCurve>(d, gate), x);
    } else {
      x = Activated<kCurve>(d, x);
    }
    if (to.residual != nullptr) x = hn::Add(x, hn::LoadU(d, to.residual + c));
    StoreStored(x, d, to.out + c);
  }
}

// Rows between what is written and what is fetched into cache.
inline constexpr int64_t kFinishAhead = 8;

template <class T, class P>
HWY_INLINE T* RowOf(P* first, int64_t row, int64_t stride) {
  return first == nullptr ? nullptr : static_cast<T*>(first) + row * stride;
}

template <Curve kCurve, class S>
HWY_NOINLINE void FinishSumsOf(const FinishStep& step) {
  if (step.columns == kPanelColumns) {
    for (int64_t r = 0; r < step.rows; ++r) {
      // Rows of the output lie far apart, where the hardware does not look ahead.
      if (r + kFinishAhead < step.rows) {
        const S* ahead = RowOf<S>(step.out, r + kFinishAhead, step.out_row);
        __builtin_prefetch(ahead, 1);
        __builtin_prefetch(ahead + kPanelColumns - 1, 1);
      }
      FinishSumsRow<kCurve, S>(
          step, r,
          {RowOf<const float>(step.residual, r, step.residual_row),
           RowOf<S>(step.out, r, step.out_row), RowOf<S>(step.before, r, step.out_row),
           RowOf<S>(step.gate_before, r, step.out_row)});
    }
    return;
  }
  const std::size_t columns = static_cast<std::size_t>(step.columns);
  for (int64_t r = 0; r < step.rows; ++r) {  // beside the last column is somebody else's memory
    float in[kPanelColumns] = {};
    S out[kPanelColumns], before[kPanelColumns], gate_before[kPanelColumns];
    if (step.residual != nullptr) {
      std::memcpy(in, step.residual + r * step.residual_row, columns * sizeof(float));
    }
    FinishSumsRow<kCurve, S>(
        step, r,
        {step.residual == nullptr ? nullptr : in, out, step.before == nullptr ? nullptr : before,
         step.gate_before == nullptr ? nullptr : gate_before});
    const auto put = [&](const S* row, void* to) {
      if (to != nullptr) std::memcpy(RowOf<S>(to, r, step.out_row), row, columns * sizeof(S));
    };
    put(out, step.out);
    put(before, step.before);
    put(gate_before, step.gate_before);
  }
}

template <Curve kCurve>
HWY_INLINE void FinishSumsAs(const FinishStep& step) {
  if (step.to_bfloat16) return FinishSumsOf<kCurve, BFloat16>(step);
  FinishSumsOf<kCurve, float>(step);
}

void FinishSums(const FinishStep& step) {
  switch (step.curve) {
    case Curve::identity:
      return FinishSumsAs<Curve::identity>(step);
    case Curve::relu:
      return FinishSumsAs<Curve::relu>(step);
    case Curve::gelu:
      return FinishSumsAs<Curve::gelu>(step);
    case Curve::gelu_tanh:
      return FinishSumsAs<Curve::gelu_tanh>(step);
    case Curve::silu:
      return FinishSumsAs<Curve::silu>(step);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(FinishSums);

void matmul_finish(const FinishStep& step) { HWY_DYNAMIC_DISPATCH(FinishSums)(step); }

}  // namespace volvelle::kernels
#endif
