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

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Where one row of 32 goes.
struct FinishRow {
  const float* residual;  // null or 32 elements
  float* out;
  float* before;  // null: not kept
  float* gate_before;
};

template <Curve kCurve>
HWY_INLINE void FinishSumsRow(const FinishStep& step, int64_t row, const FinishRow& to) {
  const hn::ScalableTag<float> d;
  const int64_t first = row * kPanelColumns;
#pragma GCC unroll 2
  for (int c = 0; c < kPanelColumns; c += kLanes<float>) {
    auto x = hn::Load(d, step.sums + first + c);
    if (step.bias != nullptr) x = hn::Add(x, hn::Load(d, step.bias + c));
    if (to.before != nullptr) hn::StoreU(x, d, to.before + c);
    if (step.gate != nullptr) {
      auto gate = hn::Load(d, step.gate + first + c);
      if (step.gate_bias != nullptr) gate = hn::Add(gate, hn::Load(d, step.gate_bias + c));
      if (to.gate_before != nullptr) hn::StoreU(gate, d, to.gate_before + c);
      x = hn::Mul(Activated<kCurve>(d, gate), x);
    } else {
      x = Activated<kCurve>(d, x);
    }
    if (to.residual != nullptr) x = hn::Add(x, hn::LoadU(d, to.residual + c));
    hn::StoreU(x, d, to.out + c);
  }
}

// Rows between what is written and what is fetched into cache.
inline constexpr int64_t kFinishAhead = 8;

template <class T>
HWY_INLINE T* RowOf(T* first, int64_t row, int64_t stride) {
  return first == nullptr ? nullptr : first + row * stride;
}

template <Curve kCurve>
HWY_NOINLINE void FinishSumsOf(const FinishStep& step) {
  if (step.columns == kPanelColumns) {
    for (int64_t r = 0; r < step.rows; ++r) {
      // Rows of the output lie far apart, where the hardware does not look ahead.
      if (r + kFinishAhead < step.rows) {
        const float* ahead = step.out + (r + kFinishAhead) * step.out_row;
        __builtin_prefetch(ahead, 1);
        __builtin_prefetch(ahead + kPanelColumns / 2, 1);
      }
      FinishSumsRow<kCurve>(
          step, r,
          {RowOf(step.residual, r, step.residual_row), RowOf(step.out, r, step.out_row),
           RowOf(step.before, r, step.out_row), RowOf(step.gate_before, r, step.out_row)});
    }
    return;
  }
  const std::size_t bytes = static_cast<std::size_t>(step.columns) * sizeof(float);
  for (int64_t r = 0; r < step.rows; ++r) {  // beside the last column is somebody else's memory
    float in[kPanelColumns] = {};
    float out[kPanelColumns], before[kPanelColumns], gate_before[kPanelColumns];
    if (step.residual != nullptr) std::memcpy(in, step.residual + r * step.residual_row, bytes);
    const bool keeps = step.before != nullptr, keeps_gate = step.gate_before != nullptr;
    FinishSumsRow<kCurve>(step, r,
                          {step.residual == nullptr ? nullptr : in, out, keeps ? before : nullptr,
                           keeps_gate ? gate_before : nullptr});
    std::memcpy(step.out + r * step.out_row, out, bytes);
    if (keeps) std::memcpy(step.before + r * step.out_row, before, bytes);
    if (keeps_gate) std::memcpy(step.gate_before + r * step.out_row, gate_before, bytes);
  }
}

void FinishSums(const FinishStep& step) {
  switch (step.curve) {
    case Curve::identity:
      return FinishSumsOf<Curve::identity>(step);
    case Curve::relu:
      return FinishSumsOf<Curve::relu>(step);
    case Curve::gelu:
      return FinishSumsOf<Curve::gelu>(step);
    case Curve::gelu_tanh:
      return FinishSumsOf<Curve::gelu_tanh>(step);
    case Curve::silu:
      return FinishSumsOf<Curve::silu>(step);
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
