#include "kernels/norm_rows.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include "kernels/row_loop-inl.h"
#include "volvelle/base/half.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct RowStatistics {
  T mean, rstd, rest;  // in the order of kNormStatistics
};

HWY_INLINE double AsDouble(float x) { return static_cast<double>(x); }
HWY_INLINE double AsDouble(double x) { return x; }
HWY_INLINE double AsDouble(BFloat16 x) { return static_cast<double>(to_float(x)); }

// For rows whose squares leave the range of float.
template <bool kCentred, class X>
HWY_NOINLINE RowStatistics<float> WideStatistics(const X* x, int64_t width, double epsilon) {
  double mean = 0;
  if (kCentred) {
    for (int64_t j = 0; j < width; ++j) mean += AsDouble(x[j]);
    mean /= static_cast<double>(width);
  }
  double squares = 0;
  for (int64_t j = 0; j < width; ++j) {
    const double distance = AsDouble(x[j]) - mean;
    squares += distance * distance;
  }
  const double rstd = 1 / std::sqrt(squares / static_cast<double>(width) + epsilon);
  const float rounded = static_cast<float>(mean);
  return {rounded, static_cast<float>(rstd),
          static_cast<float>((static_cast<double>(rounded) - mean) * rstd)};
}

// The mean is rounded before it is subtracted, and that differences from it do not add up to 0
// tells what it lacks: both passes read the row, and a small spread around a large mean keeps its
// digits.
template <bool kCentred, class T, class X>
HWY_INLINE RowStatistics<T> StatisticsOf(const X* x, int64_t width, double epsilon) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const double share = 1 / static_cast<double>(width);
  T mean = 0;
  if constexpr (kCentred) {
    Chains<decltype(d)> sums(hn::Zero(d));
    WalkRow<T>(width, [&](int64_t j, auto chain, auto span) VOLVELLE_IN_WALK {
      sums[chain] = hn::Add(sums[chain], LoadSpan(d, x + j, span));
    });
    mean = static_cast<T>(static_cast<double>(sums.sum()) * share);
  }
  Chains<decltype(d)> rests(hn::Zero(d)), squares(hn::Zero(d));
  const V mean_vector = hn::Set(d, mean);
  WalkRow<T>(width, [&](int64_t j, auto chain, auto span) VOLVELLE_IN_WALK {
    V distance = LoadSpan(d, x + j, span);
    if constexpr (kCentred) {
      distance = KeepSpan(d, hn::Sub(distance, mean_vector), hn::Zero(d), span);
      rests[chain] = hn::Add(rests[chain], distance);
    }
    squares[chain] = hn::MulAdd(distance, distance, squares[chain]);
  });
  const double square = static_cast<double>(squares.sum());
  if constexpr (!std::is_same_v<T, double>) {
    // Below, squares of the smaller elements are subnormal or 0.
    constexpr double kLeast = 1e-30, kMost = static_cast<double>(std::numeric_limits<T>::max());
    if (!(square <= kMost && square * share + epsilon >= kLeast)) {
      return WideStatistics<kCentred>(x, width, epsilon);
    }
  }
  const double rest = kCentred ? static_cast<double>(rests.sum()) * share : 0;
  const double variance = square * share - rest * rest;
  const double rstd = 1 / std::sqrt((variance > 0 ? variance : 0 * variance) + epsilon);
  return {mean, static_cast<T>(rstd), static_cast<T>(-rest * rstd)};
}

template <bool kCentred, class D, class V = hn::Vec<D>>
HWY_INLINE V Normalised(D, V x, V mean, V rstd, V rest) {
  if constexpr (kCentred) {
    return hn::MulAdd(hn::Sub(x, mean), rstd, rest);
  } else {
    return hn::Mul(x, rstd);
  }
}

template <bool kCentred, class T, class X, class Y>
HWY_NOINLINE void ForwardRows(const NormStep& step) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t width = step.width;
  const T* factors = static_cast<const T*>(step.factors);
  const T* bias = static_cast<const T*>(step.bias);
  T* statistics = static_cast<T*>(step.statistics);
  for (int64_t r = 0; r < step.rows; ++r) {
    const X* x = static_cast<const X*>(step.x) + r * width;
    Y* y = static_cast<Y*>(step.y) + r * width;
    const RowStatistics<T> of = StatisticsOf<kCentred, T>(x, width, step.epsilon);
    if (statistics != nullptr) {
      T* row = statistics + r * kNormStatistics;
      row[0] = of.mean;
      row[1] = of.rstd;
      row[2] = of.rest;
    }
    const V mean = hn::Set(d, of.mean), rstd = hn::Set(d, of.rstd), rest = hn::Set(d, of.rest);
    WalkRow<T>(width, [&](int64_t j, auto, auto span) VOLVELLE_IN_WALK {
      __builtin_prefetch(x + width + j);  // the next row, while memory has nothing to do
      const V normal = Normalised<kCentred>(d, LoadSpan(d, x + j, span), mean, rstd, rest);
      const V factor = LoadSpan(d, factors + j, span);
      const V out = bias == nullptr ? hn::Mul(normal, factor)
                                    : hn::MulAdd(normal, factor, LoadSpan(d, bias + j, span));
      StoreSpan(out, d, y + j, span);
    });
  }
}

// With n the normalised row and g = grad_y * factors:
// grad_x = rstd * (g - mean(g) - n * mean(g * n)), without mean(g) where rows are not centred.
template <bool kCentred, class T, class X, class Y>
HWY_NOINLINE void BackwardRows(const NormBackwardStep& step) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t width = step.width;
  const T share = static_cast<T>(1 / static_cast<double>(width));
  const T* factors = static_cast<const T*>(step.factors);
  T* factor_sums = static_cast<T*>(step.factor_sums);
  T* bias_sums = static_cast<T*>(step.bias_sums);
  for (int64_t r = 0; r < step.rows; ++r) {
    const X* x = static_cast<const X*>(step.x) + r * width;
    const Y* grad_y = static_cast<const Y*>(step.grad_y) + r * width;
    const T* row = static_cast<const T*>(step.statistics) + r * kNormStatistics;
    const V mean = hn::Set(d, row[0]), rstd = hn::Set(d, row[1]), rest = hn::Set(d, row[2]);
    Chains<decltype(d)> sums(hn::Zero(d)), products(hn::Zero(d));
    WalkRow<T>(width, [&](int64_t j, auto chain, auto span) VOLVELLE_IN_WALK {
      const V normal = Normalised<kCentred>(d, LoadSpan(d, x + j, span), mean, rstd, rest);
      const V grad = LoadSpan(d, grad_y + j, span);
      if (factor_sums != nullptr) {
        StoreSpan(hn::MulAdd(grad, normal, LoadSpan(d, factor_sums + j, span)), d, factor_sums + j,
                  span);
        StoreSpan(hn::Add(grad, LoadSpan(d, bias_sums + j, span)), d, bias_sums + j, span);
      }
      const V scaled = hn::Mul(grad, LoadSpan(d, factors + j, span));
      if constexpr (kCentred) sums[chain] = hn::Add(sums[chain], scaled);
      // A part is 0 behind the last element in `scaled`, whatever `normal` holds there, unless
      // that is infinite or NaN.
      products[chain] =
          hn::Add(products[chain], KeepSpan(d, hn::Mul(scaled, normal), hn::Zero(d), span));
    });
    if (step.grad_x == nullptr) continue;
    X* grad_x = static_cast<X*>(step.grad_x) + r * width;
    const V along = hn::Set(d, -products.sum() * share);
    const V level = hn::Set(d, kCentred ? sums.sum() * share : T{0});
    WalkRow<T>(width, [&](int64_t j, auto, auto span) VOLVELLE_IN_WALK {
      const V normal = Normalised<kCentred>(d, LoadSpan(d, x + j, span), mean, rstd, rest);
      __builtin_prefetch(x + width + j);
      __builtin_prefetch(grad_y + width + j);
      V inner = hn::Mul(LoadSpan(d, grad_y + j, span), LoadSpan(d, factors + j, span));
      if constexpr (kCentred) inner = hn::Sub(inner, level);
      inner = hn::MulAdd(normal, along, inner);
      const V out = step.accumulate ? hn::MulAdd(inner, rstd, LoadSpan(d, grad_x + j, span))
                                    : hn::Mul(inner, rstd);
      StoreSpan(out, d, grad_x + j, span);
    });
  }
}

template <bool kCentred>
void ForwardOf(const NormStep& step) {
  const bool narrow_y = step.y_type == RowType::bfloat16;
  if (step.x_type == RowType::float64) {
    ForwardRows<kCentred, double, double, double>(step);
  } else if (step.x_type == RowType::bfloat16) {
    narrow_y ? ForwardRows<kCentred, float, BFloat16, BFloat16>(step)
             : ForwardRows<kCentred, float, BFloat16, float>(step);
  } else {
    narrow_y ? ForwardRows<kCentred, float, float, BFloat16>(step)
             : ForwardRows<kCentred, float, float, float>(step);
  }
}

template <bool kCentred>
void BackwardOf(const NormBackwardStep& step) {
  const bool narrow_y = step.y_type == RowType::bfloat16;
  if (step.x_type == RowType::float64) {
    BackwardRows<kCentred, double, double, double>(step);
  } else if (step.x_type == RowType::bfloat16) {
    narrow_y ? BackwardRows<kCentred, float, BFloat16, BFloat16>(step)
             : BackwardRows<kCentred, float, BFloat16, float>(step);
  } else {
    narrow_y ? BackwardRows<kCentred, float, float, BFloat16>(step)
             : BackwardRows<kCentred, float, float, float>(step);
  }
}

void NormForward(const NormStep& step) {
  step.centred ? ForwardOf<true>(step) : ForwardOf<false>(step);
}

void NormBackward(const NormBackwardStep& step) {
  step.centred ? BackwardOf<true>(step) : BackwardOf<false>(step);
}

template <class T>
HWY_INLINE void AddPartialSumsOf(const PartialSums& sums) {
  const hn::ScalableTag<T> d;
  T* to = static_cast<T*>(sums.to);
  WalkRow<T>(sums.width, [&](int64_t j, auto, auto span) VOLVELLE_IN_WALK {
    const T* from = static_cast<const T*>(sums.from) + j;
    auto sum = hn::Zero(d);
    for (int64_t p = 0; p < sums.count; ++p, from += sums.stride) {
      sum = hn::Add(sum, LoadSpan(d, from, span));
    }
    if (sums.accumulate) sum = hn::Add(sum, LoadSpan(d, to + j, span));
    StoreSpan(sum, d, to + j, span);
  });
}

void AddPartialSums(const PartialSums& sums) {
  sums.type == RowType::float64 ? AddPartialSumsOf<double>(sums) : AddPartialSumsOf<float>(sums);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(NormForward);
HWY_EXPORT(NormBackward);
HWY_EXPORT(AddPartialSums);

void norm_forward(const NormStep& step) { HWY_DYNAMIC_DISPATCH(NormForward)(step); }
void norm_backward(const NormBackwardStep& step) { HWY_DYNAMIC_DISPATCH(NormBackward)(step); }
void add_partial_sums(const PartialSums& sums) { HWY_DYNAMIC_DISPATCH(AddPartialSums)(sums); }

}  // namespace volvelle::kernels
#endif
