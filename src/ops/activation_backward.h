#pragma once

#include <cstdint>

#include "kernels/matmul_finish.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// grad_x = curve'(x) * grad, element by element, for contiguous arrays of one shape: all float64,
/// or each float32, bfloat16 or float16. grad_x may be `x` or `grad`, of the same dtype.
void activation_backward(kernels::Curve curve, const View& x, const View& grad,
                         const MutableView& grad_x, int threads);

/// Of y = curve(gate) * up: both gradients, which may take the places of what is read.
void gated_backward(kernels::Curve curve, const View& gate, const View& up, const View& grad,
                    const MutableView& grad_gate, const MutableView& grad_up, int threads);

}  // namespace volvelle
