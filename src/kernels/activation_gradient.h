#pragma once

#include <cstdint>

#include "kernels/matmul_finish.h"

namespace volvelle::kernels {

/// The way back through the activations, `count` elements next to each other at any alignment.
/// What is written may be any of what is read, at the same place. Errors are measured by
/// kernels/activation_gradient_test.cc. NaN stays NaN; at infinities the limits are taken.
template <class T>
struct ActivationGradients {
  /// Of y = curve(x): grad_x[i] = curve'(x[i]) * grad[i]. relu'(0) = 0, so relu may be given its
  /// own result for x.
  void (*plain)(Curve curve, const T* x, const T* grad, std::int64_t count, T* grad_x);
  /// Of y = curve(gate) * up: grad_gate[i] = curve'(gate[i]) * up[i] * grad[i] and
  /// grad_up[i] = curve(gate[i]) * grad[i].
  void (*gated)(Curve curve, const T* gate, const T* up, const T* grad, std::int64_t count,
                T* grad_gate, T* grad_up);
};

/// Of the instruction set in use.
const ActivationGradients<float>& activation_gradients();
/// In plain loops.
const ActivationGradients<double>& activation_gradients_double();

}  // namespace volvelle::kernels
