#pragma once

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"

namespace volvelle {

/// a + b. b has a's shape or that of its last axes (a table (T,C) onto (B,T,C)); its gradient is
/// then summed over the axes it lacks, in order. The result is in a's dtype. Throws:
/// InvalidArgument (shapes, dtypes).
VOLVELLE_API Variable add(const Variable& a, const Variable& b);

}  // namespace volvelle
