#include "kernels/cross_entropy.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cross_entropy.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstring>

#include "kernels/softmax_statistics-inl.h"
#include "volvelle/base/half.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE double ReadElement(const float* from) { return static_cast<double>(*from); }
HWY_INLINE double ReadElement(const double* from) { return *from; }
HWY_INLINE double ReadElement(const BFloat16* from) { return static_cast<double>(to_float(*from)); }

HWY_INLINE void WriteElement(double value, float* to) { *to = static_cast<float>(value); }
HWY_INLINE void WriteElement(double value, double* to) { *to = value; }
HWY_INLINE void WriteElement(double value, BFloat16* to) { *to = to_bfloat16(value); }

template <bool kSmooth, class T, class X>
HWY_NOINLINE void LossRows(const CrossEntropyRows& rows) {
  for (int64_t r = 0; r < rows.rows; ++r) {
    const X* x = static_cast<const X*>(rows.logits) + r * rows.width;
    rows.losses[r] = 0;
    if (rows.labels[r] < 0) continue;
    const SoftmaxStatistics of = SoftmaxStatisticsOf<kSmooth, T>(x, rows.width);
    const double at_label = ReadElement(x + rows.labels[r]);
    double loss = std::log(of.sum) + of.largest;
    if constexpr (kSmooth) {
      loss -= (1 - rows.smoothing) * at_label +
              rows.smoothing * of.plain_sum / static_cast<double>(rows.width);
    } else {
      // The difference first: a loss near 0 keeps its digits whatever the logits' size.
      loss = std::log(of.sum) + (of.largest - at_label);
    }
    rows.losses[r] = loss;
    if (rows.statistics == nullptr) continue;
    T* kept = static_cast<T*>(rows.statistics) + r * kCrossEntropyStatistics;
    kept[0] = static_cast<T>(of.largest);
    kept[1] = static_cast<T>(1 / of.sum);
  }
}

// Elements between what is computed and what is fetched: processors look ahead poorly along memory
// that is written over as it is read (3x slower in bfloat16).
inline constexpr int64_t kAhead = 1024;

template <class T, class X>
HWY_NOINLINE void GradientRows(const CrossEntropyBackwardRows& rows) {
  const hn::ScalableTag<T> d;
  const int64_t width = rows.width;
  const double everywhere = rows.scale * rows.smoothing / static_cast<double>(width);
  for (int64_t r = 0; r < rows.rows; ++r) {
    const X* x = static_cast<const X*>(rows.logits) + r * width;
    X* grad = static_cast<X*>(rows.grad) + r * width;
    const int64_t label = rows.labels[r];
    if (label < 0) {
      if (!rows.accumulate) std::memset(grad, 0, static_cast<std::size_t>(width) * sizeof(X));
      continue;
    }
    const T* kept = static_cast<const T*>(rows.statistics) + r * kCrossEntropyStatistics;
    const double share = static_cast<double>(kept[1]) * rows.scale;
    // Of the label's element by itself, before the row is written over.
    double at_label = std::exp(ReadElement(x + label) - static_cast<double>(kept[0])) * share -
                      everywhere - rows.scale * (1 - rows.smoothing);
    if (rows.accumulate) at_label += ReadElement(grad + label);
    const auto largest = hn::Set(d, kept[0]);
    const auto factor = hn::Set(d, static_cast<T>(share));
    const auto less = hn::Set(d, static_cast<T>(everywhere));
    WalkRow<T>(width, [&](int64_t j, auto, auto span) VOLVELLE_IN_WALK {
      __builtin_prefetch(x + j + kAhead);
      const auto e = ShiftedExp(d, LoadSpan(d, x + j, span), largest);
      auto out = hn::MulSub(e, factor, less);
      if (rows.accumulate) out = hn::Add(out, LoadSpan(d, grad + j, span));
      StoreSpan(out, d, grad + j, span);
    });
    WriteElement(at_label, grad + label);
  }
}

template <bool kSmooth>
void LossOf(const CrossEntropyRows& rows) {
  switch (rows.type) {
    case RowType::float32:
      return LossRows<kSmooth, float, float>(rows);
    case RowType::bfloat16:
      return LossRows<kSmooth, float, BFloat16>(rows);
    case RowType::float64:
      return LossRows<kSmooth, double, double>(rows);
  }
}

void CrossEntropyForward(const CrossEntropyRows& rows) {
  rows.smoothing > 0 ? LossOf<true>(rows) : LossOf<false>(rows);
}

void CrossEntropyBackward(const CrossEntropyBackwardRows& rows) {
  switch (rows.type) {
    case RowType::float32:
      return GradientRows<float, float>(rows);
    case RowType::bfloat16:
      return GradientRows<float, BFloat16>(rows);
    case RowType::float64:
      return GradientRows<double, double>(rows);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(CrossEntropyForward);
HWY_EXPORT(CrossEntropyBackward);

void cross_entropy_forward(const CrossEntropyRows& rows) {
  HWY_DYNAMIC_DISPATCH(CrossEntropyForward)(rows);
}
void cross_entropy_backward(const CrossEntropyBackwardRows& rows) {
  HWY_DYNAMIC_DISPATCH(CrossEntropyBackward)(rows);
}

}  // namespace volvelle::kernels
#endif
