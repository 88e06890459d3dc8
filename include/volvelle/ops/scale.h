#pragma once

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"

namespace volvelle {

/// factor * x. The factor is rounded to x's computing type first.
VOLVELLE_API Variable scale(const Variable& x, double factor);

}  // namespace volvelle
