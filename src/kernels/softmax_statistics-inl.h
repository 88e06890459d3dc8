// Per-target code: the largest element of a row and the sum of exponentials, read once.
#if defined(VOLVELLE_KERNELS_SOFTMAX_STATISTICS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VOLVELLE_KERNELS_SOFTMAX_STATISTICS_INL_H_
#undef VOLVELLE_KERNELS_SOFTMAX_STATISTICS_INL_H_
#else
#define VOLVELLE_KERNELS_SOFTMAX_STATISTICS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/exp-inl.h"
#include "kernels/row_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct SoftmaxStatistics {
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;        ///< of e^(x - largest)
  double plain_sum = 0;  ///< of x, where it was asked for
};

// e^(x - largest).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ShiftedExp(D d, V x, V largest) {
  return Power(d, hn::Mul(hn::Sub(x, largest), hn::Set(d, kPerNat<hn::TFromD<D>>)));
}

// By pieces that stay in the first cache between their maximum and their exponentials; the next one
// is fetched while these are computed, since memory would rest meanwhile. A NaN may be lost to the
// maximum; it comes back in the sum.
template <bool kPlainSum, class T, class X>
HWY_INLINE SoftmaxStatistics SoftmaxStatisticsOf(const X* x, int64_t width) {
  constexpr int64_t kPiece = 1024;
  constexpr T kLowest = -std::numeric_limits<T>::infinity();
  const hn::ScalableTag<T> d;
  SoftmaxStatistics of;
  T largest = kLowest;
  for (int64_t from = 0; from < width; from += kPiece) {
    const int64_t count = std::min(kPiece, width - from);
    const X* piece = x + from;
    Chains<decltype(d)> maxima(hn::Set(d, kLowest)), sums(hn::Zero(d)), plain(hn::Zero(d));
    WalkRow<T>(count, [&](int64_t j, auto chain, auto span) VOLVELLE_IN_WALK {
      const auto v = LoadSpan(d, piece + j, span);
      maxima[chain] = hn::Max(maxima[chain], KeepSpan(d, v, hn::Set(d, kLowest), span));
      if constexpr (kPlainSum) plain[chain] = hn::Add(plain[chain], v);
    });
    const T top = maxima.maximum();
    if (top > largest) {
      of.sum *= std::exp(static_cast<double>(largest) - static_cast<double>(top));
      largest = top;
    }
    // While all was -inf, e^x itself is the sum: 0, or NaN where there is one.
    const auto shift = hn::Set(d, largest == kLowest ? T{0} : largest);
    WalkRow<T>(count, [&](int64_t j, auto chain, auto span) VOLVELLE_IN_WALK {
      __builtin_prefetch(piece + kPiece + j);
      const auto e = ShiftedExp(d, LoadSpan(d, piece + j, span), shift);
      sums[chain] = hn::Add(sums[chain], KeepSpan(d, e, hn::Zero(d), span));
    });
    of.sum += static_cast<double>(sums.sum());
    if constexpr (kPlainSum) of.plain_sum += static_cast<double>(plain.sum());
  }
  of.largest = static_cast<double>(largest);
  return of;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#endif
