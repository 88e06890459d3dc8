#include "kernels/activation_gradient.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/activation_gradient.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "kernels/activation_double.h"
#include "kernels/activation_slope-inl.h"
#include "kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The last elements, fewer than a vector, with 0 behind them.
template <class D>
HWY_INLINE hn::Vec<D> LoadRest(D d, const float* from, int64_t rest) {
  HWY_ALIGN float whole[kLanes<float>] = {};
  std::memcpy(whole, from, static_cast<std::size_t>(rest) * sizeof(float));
  return hn::Load(d, whole);
}

template <class D>
HWY_INLINE void StoreRest(D d, hn::Vec<D> v, float* to, int64_t rest) {
  HWY_ALIGN float whole[kLanes<float>];
  hn::Store(v, d, whole);
  std::memcpy(to, whole, static_cast<std::size_t>(rest) * sizeof(float));
}

template <Curve kCurve>
HWY_NOINLINE void PlainGradientOf(const float* x, const float* grad, int64_t count, float* grad_x) {
  const hn::ScalableTag<float> d;
  int64_t i = 0;
  for (; i + kLanes<float> <= count; i += kLanes<float>) {
    const auto slope = Slope<kCurve>(d, hn::LoadU(d, x + i));
    hn::StoreU(hn::Mul(slope, hn::LoadU(d, grad + i)), d, grad_x + i);
  }
  if (i == count) return;
  const auto slope = Slope<kCurve>(d, LoadRest(d, x + i, count - i));
  StoreRest(d, hn::Mul(slope, LoadRest(d, grad + i, count - i)), grad_x + i, count - i);
}

template <Curve kCurve>
HWY_NOINLINE void GatedGradientOf(const float* gate, const float* up, const float* grad,
                                  int64_t count, float* grad_gate, float* grad_up) {
  const hn::ScalableTag<float> d;
  int64_t i = 0;
  for (; i + kLanes<float> <= count; i += kLanes<float>) {
    const auto g = hn::LoadU(d, gate + i);
    const auto back = hn::LoadU(d, grad + i);
    const auto to_gate = hn::Mul(Slope<kCurve>(d, g), hn::Mul(hn::LoadU(d, up + i), back));
    const auto to_up = hn::Mul(Activated<kCurve>(d, g), back);
    hn::StoreU(to_gate, d, grad_gate + i);
    hn::StoreU(to_up, d, grad_up + i);
  }
  const int64_t rest = count - i;
  if (rest == 0) return;
  const auto g = LoadRest(d, gate + i, rest);
  const auto back = LoadRest(d, grad + i, rest);
  const auto to_gate = hn::Mul(Slope<kCurve>(d, g), hn::Mul(LoadRest(d, up + i, rest), back));
  const auto to_up = hn::Mul(Activated<kCurve>(d, g), back);
  StoreRest(d, to_gate, grad_gate + i, rest);
  StoreRest(d, to_up, grad_up + i, rest);
}

void PlainGradient(Curve curve, const float* x, const float* grad, int64_t count, float* grad_x) {
  switch (curve) {
    case Curve::identity:
      return PlainGradientOf<Curve::identity>(x, grad, count, grad_x);
    case Curve::relu:
      return PlainGradientOf<Curve::relu>(x, grad, count, grad_x);
    case Curve::gelu:
      return PlainGradientOf<Curve::gelu>(x, grad, count, grad_x);
    case Curve::gelu_tanh:
      return PlainGradientOf<Curve::gelu_tanh>(x, grad, count, grad_x);
    case Curve::silu:
      return PlainGradientOf<Curve::silu>(x, grad, count, grad_x);
  }
}

void GatedGradient(Curve curve, const float* gate, const float* up, const float* grad,
                   int64_t count, float* grad_gate, float* grad_up) {
  switch (curve) {
    case Curve::identity:
      return GatedGradientOf<Curve::identity>(gate, up, grad, count, grad_gate, grad_up);
    case Curve::relu:
      return GatedGradientOf<Curve::relu>(gate, up, grad, count, grad_gate, grad_up);
    case Curve::gelu:
      return GatedGradientOf<Curve::gelu>(gate, up, grad, count, grad_gate, grad_up);
    case Curve::gelu_tanh:
      return GatedGradientOf<Curve::gelu_tanh>(gate, up, grad, count, grad_gate, grad_up);
    case Curve::silu:
      return GatedGradientOf<Curve::silu>(gate, up, grad, count, grad_gate, grad_up);
  }
}

const ActivationGradients<float>* ActivationGradientTable() {
  static constexpr ActivationGradients<float> kTable{PlainGradient, GatedGradient};
  return &kTable;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {
namespace {

void plain_double(Curve curve, const double* x, const double* grad, std::int64_t count,
                  double* grad_x) {
  for (std::int64_t i = 0; i < count; ++i) grad_x[i] = activation_slope(curve, x[i]) * grad[i];
}

void gated_double(Curve curve, const double* gate, const double* up, const double* grad,
                  std::int64_t count, double* grad_gate, double* grad_up) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double to_gate = activation_slope(curve, gate[i]) * (up[i] * grad[i]);
    const double to_up = activated(curve, gate[i]) * grad[i];
    grad_gate[i] = to_gate;
    grad_up[i] = to_up;
  }
}

}  // namespace

HWY_EXPORT(ActivationGradientTable);

const ActivationGradients<float>& activation_gradients() {
  return *HWY_DYNAMIC_DISPATCH(ActivationGradientTable)();
}

const ActivationGradients<double>& activation_gradients_double() {
  static constexpr ActivationGradients<double> kTable{plain_double, gated_double};
  return kTable;
}

}  // namespace volvelle::kernels
#endif
