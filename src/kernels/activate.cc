#include "kernels/activate.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/activate.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/activation-inl.h"
#include "kernels/row_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <Curve kCurve>
HWY_NOINLINE void ActivateBy(const float* x, const float* up, int64_t count, float* y) {
  const hn::ScalableTag<float> d;
  if (up == nullptr) {
    WalkRow<float>(count, [&](int64_t j, auto, auto span) VOLVELLE_IN_WALK {
      StoreSpan(Activated<kCurve>(d, LoadSpan(d, x + j, span)), d, y + j, span);
    });
  } else {
    WalkRow<float>(count, [&](int64_t j, auto, auto span) VOLVELLE_IN_WALK {
      const auto open = Activated<kCurve>(d, LoadSpan(d, x + j, span));
      StoreSpan(hn::Mul(open, LoadSpan(d, up + j, span)), d, y + j, span);
    });
  }
}

// `up` null: not gated.
void Activate(Curve curve, const float* x, const float* up, int64_t count, float* y) {
  switch (curve) {
    case Curve::identity:
      return ActivateBy<Curve::identity>(x, up, count, y);
    case Curve::relu:
      return ActivateBy<Curve::relu>(x, up, count, y);
    case Curve::gelu:
      return ActivateBy<Curve::gelu>(x, up, count, y);
    case Curve::gelu_tanh:
      return ActivateBy<Curve::gelu_tanh>(x, up, count, y);
    case Curve::silu:
      return ActivateBy<Curve::silu>(x, up, count, y);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(Activate);

void activate(Curve curve, const float* x, std::int64_t count, float* y) {
  HWY_DYNAMIC_DISPATCH(Activate)(curve, x, nullptr, count, y);
}
void activate_gated(Curve curve, const float* gate, const float* up, std::int64_t count, float* y) {
  HWY_DYNAMIC_DISPATCH(Activate)(curve, gate, up, count, y);
}

}  // namespace volvelle::kernels
#endif
