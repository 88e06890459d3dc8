#pragma once

#include "volvelle/tensor/view.h"

namespace volvelle {

/// Sum of a * b over two contiguous arrays of one shape, each float32 or float64, added in double
/// in row-major order.
double inner_product(const View& a, const View& b);

/// Euclidean norm of a - b, likewise.
double distance(const View& a, const View& b);

}  // namespace volvelle
