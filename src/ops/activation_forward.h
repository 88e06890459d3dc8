#pragma once

#include "kernels/matmul_finish.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// y = curve(x), element by element, for contiguous arrays of one shape: both float64, or each
/// float32, bfloat16 or float16. y may be x.
void activation_forward(kernels::Curve curve, const View& x, const MutableView& y, int threads);

/// y = curve(gate) * up.
void gated_forward(kernels::Curve curve, const View& gate, const View& up, const MutableView& y,
                   int threads);

}  // namespace volvelle
