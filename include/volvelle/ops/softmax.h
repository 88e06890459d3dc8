#pragma once

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"

namespace volvelle {

/// Softmax over the last axis, at least float32 inside.
VOLVELLE_API Variable softmax(const Variable& x);

}  // namespace volvelle
