#pragma once

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"

namespace volvelle {

/// Softmax over the last axis, at least float32 inside. -inf has a share of 0; a row of nothing
/// else becomes NaN, and so does one with a NaN.
///
/// Shapes:  x (..., C). float32, bfloat16 or float64.
/// Throws:  InvalidArgument (shape, dtype).
VOLVELLE_API Variable softmax(const Variable& x);

}  // namespace volvelle
