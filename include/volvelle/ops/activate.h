#pragma once

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/ops/activation.h"

namespace volvelle {

/// act(x), element by element.
VOLVELLE_API Variable activate(const Variable& x, Activation activation);

/// act(gate) * up, of equal shapes: SwiGLU (silu), GEGLU (gelu) when the products are separate.
VOLVELLE_API Variable gated(const Variable& gate, const Variable& up, Activation activation);

}  // namespace volvelle
