#pragma once

#include <cstdint>

#include "volvelle/base/export.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// The arithmetic of optimizers, on contiguous float32 or float64 arrays of one shape; threads do
/// not change a bit. Throws InvalidArgument for others.

struct AdamWNumbers {
  double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, decay = 0.01;
  std::int64_t step = 1;      ///< counted from 1, for the bias correction
  double gradient_scale = 1;  ///< multiplies the gradient first (clipping)
  int threads = 0;
};
/// w -= rate * decay * w; m, v as usual; w -= rate * (m / (1 - beta1^step)) / (sqrt(v / (1 -
/// beta2^step)) + epsilon). Operations in PyTorch's order. Returns the norm of the change of w.
/// Source: Loshchilov and Hutter 2019, arXiv:1711.05101.
VOLVELLE_API double adamw_step(const MutableView& weight, const View& gradient,
                               const MutableView& first_moment, const MutableView& second_moment,
                               const AdamWNumbers& numbers);

struct SgdNumbers {
  double rate = 1e-2, momentum = 0, decay = 0;
  bool nesterov = false;
  bool first = true;          ///< the velocity holds nothing yet
  double gradient_scale = 1;  ///< multiplies the gradient first
  int threads = 0;
};
/// As PyTorch's SGD. `velocity` may be absent when momentum is 0. Returns the norm of the change.
VOLVELLE_API double sgd_step(const MutableView& weight, const View& gradient,
                             const MutableView& velocity, const SgdNumbers& numbers);

}  // namespace volvelle
