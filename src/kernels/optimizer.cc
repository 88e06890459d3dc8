#include "kernels/optimizer.h"

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/lanes-inl.h"
#include "kernels/stored_rows-inl.h"
#include "kernels/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace volvelle::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// Changes are gathered by so many, in the first-level cache, before they are squared and summed.
constexpr int kBlock = 512;

// Whole vectors, and the last one in part: `Whole` reads and writes as many elements as there are.
template <class T>
struct Reach {
  static constexpr int kWidth = kLanes<T>;
  int rest = 0;  ///< 0: all lanes

  template <class D>
  HWY_INLINE hn::Vec<D> load(D d, const T* from) const {
    return rest == 0 ? hn::LoadU(d, from) : LoadStoredPart(d, from, rest);
  }
  template <class D>
  HWY_INLINE void store(hn::Vec<D> x, D d, T* to) const {
    if (rest == 0) {
      hn::StoreU(x, d, to);
    } else {
      StoreStoredPart(x, d, to, rest);
    }
  }
};

// Calls step(at, reach, change), which writes what the weights from `at` on change by to `change`.
template <class T, class Step>
HWY_INLINE double SumOfSquaredChanges(int64_t count, Step&& step) {
  HWY_ALIGN T changes[kBlock];
  double sum = 0;
  for (int64_t first = 0; first < count; first += kBlock) {
    const int here = static_cast<int>(std::min<int64_t>(kBlock, count - first));
    int i = 0;
    for (; i + kLanes<T> <= here; i += kLanes<T>) step(first + i, Reach<T>{}, changes + i);
    if (i < here) step(first + i, Reach<T>{here - i}, changes + i);
    sum += ProductSum(changes, changes, here);
  }
  return sum;
}

// The operations of torch.optim.AdamW, one by one and in its order: mul_, lerp_, mul_ and addcmul_,
// sqrt, div, add_, addcdiv_. Multiply-adds stand where it has them, and the build forbids the
// compiler to make others: where the instruction set has them, the weights are PyTorch's to the
// bit.
template <class T>
double AdamW(const AdamWFactors<T>& f, int64_t count, T* weight, const T* gradient, T* first,
             T* second) {
  const hn::ScalableTag<T> d;
  const auto scale = hn::Set(d, f.gradient_scale);
  const auto keep = hn::Set(d, f.keep);
  const auto beta2 = hn::Set(d, f.beta2);
  const auto to_second = hn::Set(d, f.to_second);
  const auto root = hn::Set(d, f.second_root);
  const auto epsilon = hn::Set(d, f.epsilon);
  const auto step_size = hn::Set(d, f.step_size);
  // lerp goes from the nearer end.
  const bool near = f.to_first < T{0.5};
  const auto toward = hn::Set(d, near ? f.to_first : f.to_first - T{1});
  return SumOfSquaredChanges<T>(count, [&](int64_t at, Reach<T> reach, T* change) HWY_ATTR {
    const auto g = hn::Mul(reach.load(d, gradient + at), scale);
    const auto before = reach.load(d, weight + at);
    const auto old_m = reach.load(d, first + at);
    const auto m = hn::MulAdd(toward, hn::Sub(g, old_m), near ? old_m : g);
    const auto v = hn::MulAdd(hn::Mul(to_second, g), g, hn::Mul(reach.load(d, second + at), beta2));
    const auto below = hn::Add(hn::Div(hn::Sqrt(v), root), epsilon);
    const auto after = hn::Sub(hn::Mul(before, keep), hn::Div(hn::Mul(step_size, m), below));
    reach.store(m, d, first + at);
    reach.store(v, d, second + at);
    reach.store(after, d, weight + at);
    hn::Store(hn::Sub(after, before), d, change);
  });
}

// torch.optim.SGD, likewise.
template <class T>
double Sgd(const SgdFactors<T>& f, int64_t count, T* weight, const T* gradient, T* velocity) {
  const hn::ScalableTag<T> d;
  const auto scale = hn::Set(d, f.gradient_scale);
  const auto decay = hn::Set(d, f.decay);
  const auto momentum = hn::Set(d, f.momentum);
  const auto rate = hn::Set(d, f.rate);
  return SumOfSquaredChanges<T>(count, [&](int64_t at, Reach<T> reach, T* change) HWY_ATTR {
    const auto before = reach.load(d, weight + at);
    auto g = hn::Mul(reach.load(d, gradient + at), scale);
    if (f.decay != T{0}) g = hn::MulAdd(before, decay, g);
    if (f.momentum != T{0}) {
      const auto speed = f.first ? g : hn::Add(hn::Mul(reach.load(d, velocity + at), momentum), g);
      reach.store(speed, d, velocity + at);
      g = f.nesterov ? hn::MulAdd(speed, momentum, g) : speed;
    }
    const auto after = hn::NegMulAdd(rate, g, before);
    reach.store(after, d, weight + at);
    hn::Store(hn::Sub(after, before), d, change);
  });
}

}  // namespace

const OptimizerKernels<float>* OptimizerTableF32() {
  static constexpr OptimizerKernels<float> kTable{AdamW<float>, Sgd<float>};
  return &kTable;
}
const OptimizerKernels<double>* OptimizerTableF64() {
  static constexpr OptimizerKernels<double> kTable{AdamW<double>, Sgd<double>};
  return &kTable;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace volvelle::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace volvelle::kernels {

HWY_EXPORT(OptimizerTableF32);
HWY_EXPORT(OptimizerTableF64);

const OptimizerKernels<float>& optimizer_kernels_f32() {
  return *HWY_DYNAMIC_DISPATCH(OptimizerTableF32)();
}
const OptimizerKernels<double>& optimizer_kernels_f64() {
  return *HWY_DYNAMIC_DISPATCH(OptimizerTableF64)();
}

}  // namespace volvelle::kernels
#endif
