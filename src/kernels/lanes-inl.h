// Per-target code: how many elements a vector holds.
#if defined(VOLVELLE_KERNELS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_LANES_INL_H_
#undef VOLVELLE_KERNELS_LANES_INL_H_
#else
#define VOLVELLE_KERNELS_LANES_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<T>()));

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
