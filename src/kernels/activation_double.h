#pragma once

#include "kernels/matmul_finish.h"

namespace volvelle::kernels {

/// The activations and their derivatives in double, from the formulas (ops/activation.h). NaN stays
/// NaN; at infinities the limits are taken.
double activated(Curve curve, double x);
double activation_slope(Curve curve, double x);

}  // namespace volvelle::kernels
