#pragma once

#include <cstdint>

namespace volvelle::kernels {

/// Numbers of one step, worked out once; the names are those of the formulas in the kernels.
template <class T>
struct AdamWFactors {
  T gradient_scale;  ///< multiplies the gradient first
  T keep;            ///< 1 - rate * decay
  T to_first;        ///< 1 - beta1
  T beta2;
  T to_second;    ///< 1 - beta2
  T second_root;  ///< sqrt(1 - beta2^step)
  T epsilon;
  T step_size;  ///< rate / (1 - beta1^step)
};

template <class T>
struct SgdFactors {
  T gradient_scale;
  T decay;
  T momentum;
  T rate;
  bool nesterov;
  bool first;  ///< the velocity holds nothing yet
};

/// Each returns the sum of the squares of what the weights changed by, in float64 and in one order.
template <class T>
struct OptimizerKernels {
  double (*adamw)(const AdamWFactors<T>& factors, std::int64_t count, T* weight, const T* gradient,
                  T* first, T* second);
  /// `velocity` may be null where momentum is 0.
  double (*sgd)(const SgdFactors<T>& factors, std::int64_t count, T* weight, const T* gradient,
                T* velocity);
};

/// Of the instruction set in use.
const OptimizerKernels<float>& optimizer_kernels_f32();
const OptimizerKernels<double>& optimizer_kernels_f64();

template <class T>
const OptimizerKernels<T>& optimizer_kernels();
template <>
inline const OptimizerKernels<float>& optimizer_kernels<float>() {
  return optimizer_kernels_f32();
}
template <>
inline const OptimizerKernels<double>& optimizer_kernels<double>() {
  return optimizer_kernels_f64();
}

}  // namespace volvelle::kernels
