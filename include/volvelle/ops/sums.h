#pragma once

#include <cstdint>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// Sum, mean, and mean of squares of all elements: scalars, added in a fixed order in float64.
VOLVELLE_API Variable sum(const Variable& x);
VOLVELLE_API Variable mean(const Variable& x);
VOLVELLE_API Variable mean_square(const Variable& x);

/// sum of a * b over all elements: a scalar.
VOLVELLE_API Variable dot(const Variable& a, const Variable& b);

/// Euclidean norm of an array of any strides, accumulated in float64 in a fixed order: the same
/// bits for any number of threads.
VOLVELLE_API double norm(const View& x, int threads = 0);

/// Index (in row-major order) of the first element that is not finite; -1: all are.
VOLVELLE_API std::int64_t first_non_finite(const View& x, int threads = 0);

}  // namespace volvelle
