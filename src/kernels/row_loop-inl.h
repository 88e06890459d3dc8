// Per-target code: walking along a row of any length, vector by vector.
#if defined(VOLVELLE_KERNELS_ROW_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_ROW_LOOP_INL_H_
#undef VOLVELLE_KERNELS_ROW_LOOP_INL_H_
#else
#define VOLVELLE_KERNELS_ROW_LOOP_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "kernels/lanes-inl.h"
#include "kernels/stored_rows-inl.h"

// What every lambda of a walk carries: compiled for the target, and never a call.
#ifndef VOLVELLE_IN_WALK
#define VOLVELLE_IN_WALK HWY_ATTR __attribute__((always_inline))
#endif

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct WholeVector {};
struct PartVector {
  int count;  ///< elements, fewer than a vector's
};

template <class D, class S>
HWY_INLINE hn::Vec<D> LoadSpan(D d, const S* from, WholeVector) {
  return LoadStored(d, from);
}
template <class D, class S>
HWY_INLINE hn::Vec<D> LoadSpan(D d, const S* from, PartVector part) {  // 0 behind the last
  return LoadStoredPart(d, from, part.count);
}

template <class D, class S>
HWY_INLINE void StoreSpan(hn::Vec<D> v, D d, S* to, WholeVector) {
  StoreStored(v, d, to);
}
template <class D, class S>
HWY_INLINE void StoreSpan(hn::Vec<D> v, D d, S* to, PartVector part) {
  StoreStoredPart(v, d, to, part.count);
}

// `other` behind the last element.
template <class D>
HWY_INLINE hn::Vec<D> KeepSpan(D, hn::Vec<D> v, hn::Vec<D>, WholeVector) {
  return v;
}
template <class D>
HWY_INLINE hn::Vec<D> KeepSpan(D d, hn::Vec<D> v, hn::Vec<D> other, PartVector part) {
  return hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(part.count)), v, other);
}

// Sums in flight, so that one addition need not wait for the last.
inline constexpr int kChains = 4;

template <int kChain>
using Chain = std::integral_constant<int, kChain>;

// body(first element, Chain, WholeVector or PartVector), in order.
template <class T, class Body>
HWY_INLINE void WalkRow(int64_t width, Body body) {
  constexpr int64_t n = kLanes<T>;
  int64_t j = 0;
  for (; j + kChains * n <= width; j += kChains * n) {
    body(j, Chain<0>(), WholeVector());
    body(j + n, Chain<1>(), WholeVector());
    body(j + 2 * n, Chain<2>(), WholeVector());
    body(j + 3 * n, Chain<3>(), WholeVector());
  }
  for (; j + n <= width; j += n) body(j, Chain<0>(), WholeVector());
  if (j < width) body(j, Chain<1>(), PartVector{static_cast<int>(width - j)});
}

// One running value per chain.
template <class D>
struct Chains {
  hn::Vec<D> value[kChains];

  HWY_INLINE explicit Chains(hn::Vec<D> first) {
    for (auto& v : value) v = first;
  }
  template <int kChain>
  HWY_INLINE hn::Vec<D>& operator[](Chain<kChain>) {
    return value[kChain];
  }
  HWY_INLINE hn::TFromD<D> sum() const {
    const D d;
    const auto all = hn::Add(hn::Add(value[0], value[1]), hn::Add(value[2], value[3]));
    return hn::GetLane(hn::SumOfLanes(d, all));
  }
  HWY_INLINE hn::TFromD<D> maximum() const {
    const D d;
    const auto all = hn::Max(hn::Max(value[0], value[1]), hn::Max(value[2], value[3]));
    return hn::GetLane(hn::MaxOfLanes(d, all));
  }
};

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
