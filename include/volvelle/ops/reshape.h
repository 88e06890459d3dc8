#pragma once

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/tensor/shape.h"

namespace volvelle {

/// The same numbers in another shape; no copy, and gradients pass through.
VOLVELLE_API Variable reshape(const Variable& x, const Shape& shape);

}  // namespace volvelle
