#pragma once

#include <cstdint>

#include "kernels/matmul_finish.h"

namespace volvelle::kernels {

/// y[i] = curve(x[i]), `count` elements next to each other at any alignment; y may be x.
void activate(Curve curve, const float* x, std::int64_t count, float* y);
/// y[i] = curve(gate[i]) * up[i]; y may be either.
void activate_gated(Curve curve, const float* gate, const float* up, std::int64_t count, float* y);

}  // namespace volvelle::kernels
