#include "kernels/softmax_rows.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/softmax_statistics-inl.h"
#include "volvelle/base/half.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T, class X>
HWY_NOINLINE void ShareRows(const SoftmaxRows& rows) {
  const hn::ScalableTag<T> d;
  for (int64_t r = 0; r < rows.rows; ++r) {
    const X* x = static_cast<const X*>(rows.x) + r * rows.width;
    X* y = static_cast<X*>(rows.y) + r * rows.width;
    const SoftmaxStatistics of = SoftmaxStatisticsOf<false, T>(x, rows.width);
    const auto largest = hn::Set(d, static_cast<T>(of.largest));
    const auto share = hn::Set(d, static_cast<T>(1 / of.sum));
    WalkRow<T>(rows.width, [&](int64_t j, auto, auto span) VOLVELLE_IN_WALK {
      const auto e = ShiftedExp(d, LoadSpan(d, x + j, span), largest);
      StoreSpan(hn::Mul(e, share), d, y + j, span);
    });
  }
}

template <class T, class X>
HWY_NOINLINE void ShareGradients(const SoftmaxBackwardRows& rows) {
  const hn::ScalableTag<T> d;
  for (int64_t r = 0; r < rows.rows; ++r) {
    const X* y = static_cast<const X*>(rows.y) + r * rows.width;
    const X* grad_y = static_cast<const X*>(rows.grad_y) + r * rows.width;
    X* grad_x = static_cast<X*>(rows.grad_x) + r * rows.width;
    Chains<decltype(d)> sums(hn::Zero(d));
    WalkRow<T>(rows.width, [&](int64_t j, auto chain, auto span) VOLVELLE_IN_WALK {
      sums[chain] =
          hn::MulAdd(LoadSpan(d, y + j, span), LoadSpan(d, grad_y + j, span), sums[chain]);
    });
    const auto sum = hn::Set(d, sums.sum());
    WalkRow<T>(rows.width, [&](int64_t j, auto, auto span) VOLVELLE_IN_WALK {
      const auto distance = hn::Sub(LoadSpan(d, grad_y + j, span), sum);
      const auto share = LoadSpan(d, y + j, span);
      StoreSpan(rows.accumulate ? hn::MulAdd(distance, share, LoadSpan(d, grad_x + j, span))
                                : hn::Mul(distance, share),
                d, grad_x + j, span);
    });
  }
}

void SoftmaxForward(const SoftmaxRows& rows) {
  switch (rows.type) {
    case RowType::float32:
      return ShareRows<float, float>(rows);
    case RowType::bfloat16:
      return ShareRows<float, BFloat16>(rows);
    case RowType::float64:
      return ShareRows<double, double>(rows);
  }
}

void SoftmaxBackward(const SoftmaxBackwardRows& rows) {
  switch (rows.type) {
    case RowType::float32:
      return ShareGradients<float, float>(rows);
    case RowType::bfloat16:
      return ShareGradients<float, BFloat16>(rows);
    case RowType::float64:
      return ShareGradients<double, double>(rows);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(SoftmaxForward);
HWY_EXPORT(SoftmaxBackward);

void softmax_forward(const SoftmaxRows& rows) { HWY_DYNAMIC_DISPATCH(SoftmaxForward)(rows); }
void softmax_backward(const SoftmaxBackwardRows& rows) {
  HWY_DYNAMIC_DISPATCH(SoftmaxBackward)(rows);
}

}  // namespace volvelle::kernels
#endif
