#include "kernels/rotate.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rotate.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "kernels/row_loop-inl.h"
#include "volvelle/base/half.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A vector of first and one of second numbers.
template <class D>
struct PairVectors {
  hn::Vec<D> a, b;
};

template <bool kBack, class D>
HWY_INLINE PairVectors<D> Turned(D, const PairVectors<D>& x, hn::Vec<D> c, hn::Vec<D> s) {
  const auto ac = hn::Mul(x.a, c), bc = hn::Mul(x.b, c);
  if constexpr (kBack) {
    return {hn::MulAdd(x.b, s, ac), hn::NegMulAdd(x.a, s, bc)};
  } else {
    return {hn::NegMulAdd(x.b, s, ac), hn::MulAdd(x.a, s, bc)};
  }
}

template <bool kBack, class T, class S>
HWY_INLINE void TurnHalves(const S* x, S* y, const T* cosines, const T* sines, int64_t pairs) {
  const hn::ScalableTag<T> d;
  WalkRow<T>(pairs, [&](int64_t i, auto, auto span) VOLVELLE_IN_WALK {
    const PairVectors<hn::ScalableTag<T>> in{LoadSpan(d, x + i, span),
                                             LoadSpan(d, x + pairs + i, span)};
    const auto out =
        Turned<kBack>(d, in, LoadSpan(d, cosines + i, span), LoadSpan(d, sines + i, span));
    StoreSpan(out.a, d, y + i, span);
    StoreSpan(out.b, d, y + pairs + i, span);
  });
}

// `pairs` is a vector's count of lanes at most.
template <class D, class S>
HWY_INLINE PairVectors<D> LoadPairs(D d, const S* from, int64_t pairs) {
  using T = hn::TFromD<D>;
  constexpr int64_t n = kLanes<T>;
  PairVectors<D> x;
  if constexpr (std::is_same_v<T, S>) {
    if (pairs == n) {
      hn::LoadInterleaved2(d, from, x.a, x.b);
      return x;
    }
  }
  HWY_ALIGN T wide[2 * n] = {};
  HWY_ALIGN S part[2 * n] = {};
  if (pairs < n) {
    std::memcpy(part, from, static_cast<std::size_t>(2 * pairs) * sizeof(S));
    from = part;
  }
  hn::Store(LoadStored(d, from), d, wide);
  hn::Store(LoadStored(d, from + n), d, wide + n);
  hn::LoadInterleaved2(d, wide, x.a, x.b);
  return x;
}

template <class D, class S>
HWY_INLINE void StorePairs(D d, const PairVectors<D>& x, S* to, int64_t pairs) {
  using T = hn::TFromD<D>;
  constexpr int64_t n = kLanes<T>;
  if constexpr (std::is_same_v<T, S>) {
    if (pairs == n) {
      hn::StoreInterleaved2(x.a, x.b, d, to);
      return;
    }
  }
  HWY_ALIGN T wide[2 * n];
  HWY_ALIGN S part[2 * n];
  hn::StoreInterleaved2(x.a, x.b, d, wide);
  S* whole = pairs < n ? part : to;
  StoreStored(hn::Load(d, wide), d, whole);
  StoreStored(hn::Load(d, wide + n), d, whole + n);
  if (pairs < n) std::memcpy(to, part, static_cast<std::size_t>(2 * pairs) * sizeof(S));
}

template <bool kBack, class T, class S>
HWY_INLINE void TurnNeighbours(const S* x, S* y, const T* cosines, const T* sines, int64_t pairs) {
  const hn::ScalableTag<T> d;
  constexpr int64_t n = kLanes<T>;
  for (int64_t i = 0; i < pairs; i += n) {
    const int64_t left = pairs - i < n ? pairs - i : n;
    const PairVectors<hn::ScalableTag<T>> in = LoadPairs(d, x + 2 * i, left);
    if (left == n) {
      StorePairs(d, Turned<kBack>(d, in, hn::LoadU(d, cosines + i), hn::LoadU(d, sines + i)),
                 y + 2 * i, n);
    } else {
      const int count = static_cast<int>(left);
      StorePairs(d,
                 Turned<kBack>(d, in, LoadStoredPart(d, cosines + i, count),
                               LoadStoredPart(d, sines + i, count)),
                 y + 2 * i, left);
    }
  }
}

template <bool kBack, bool kInterleaved, class T, class S>
HWY_NOINLINE void TurnRows(const RotatedRows& rows) {
  const S* x = static_cast<const S*>(rows.x);
  S* y = static_cast<S*>(rows.y);
  const T* cosines = static_cast<const T*>(rows.cosines);
  const T* sines = static_cast<const T*>(rows.sines);
  const int64_t turned = 2 * rows.pairs;
  for (int64_t r = 0; r < rows.rows; ++r) {
    if constexpr (kInterleaved) {
      TurnNeighbours<kBack>(x, y, cosines, sines, rows.pairs);
    } else {
      TurnHalves<kBack>(x, y, cosines, sines, rows.pairs);
    }
    if (turned < rows.width && x != y) {
      std::memcpy(y + turned, x + turned,
                  static_cast<std::size_t>(rows.width - turned) * sizeof(S));
    }
    x += rows.x_stride;
    y += rows.y_stride;
    cosines += rows.cosine_stride;
    sines += rows.sine_stride;
  }
}

template <class T, class S>
void Turn(const RotatedRows& rows) {
  if (rows.interleaved) {
    rows.back ? TurnRows<true, true, T, S>(rows) : TurnRows<false, true, T, S>(rows);
  } else {
    rows.back ? TurnRows<true, false, T, S>(rows) : TurnRows<false, false, T, S>(rows);
  }
}

const RotateKernels* RotateTable() {
  static constexpr RotateKernels kTable{
      {Turn<float, float>, Turn<double, double>, Turn<float, Float16>, Turn<float, BFloat16>}};
  return &kTable;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(RotateTable);

const RotateKernels& rotate_kernels() { return *HWY_DYNAMIC_DISPATCH(RotateTable)(); }

}  // namespace volvelle::kernels
#endif
