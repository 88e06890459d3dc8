#pragma once

#include "kernels/matmul_finish.h"

namespace volvelle::kernels {

/// The activations and their derivatives in double, from the formulas (ops/activation.h). NaN stays
/// NaN; at infinities the limits are taken.
double curved(Curve curve, double x);
double curve_slope(Curve curve, double x);

inline double activated(Curve curve, double x) {
  return curve == Curve::relu ? (x < 0 ? 0 : x) : curved(curve, x);
}
inline double activation_slope(Curve curve, double x) {
  return curve == Curve::relu ? (x <= 0 ? 0 : 1) : curve_slope(curve, x);
}

}  // namespace volvelle::kernels
