#pragma once

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/ops/activation.h"

namespace volvelle {

/// act(x), element by element; x itself for Activation::none. float32, bfloat16 or float64. NaN
/// stays NaN, and at infinities the limits are taken; relu'(0) = 0. Throws: InvalidArgument (dtype;
/// an activation that is none).
VOLVELLE_API Variable activate(const Variable& x, Activation activation);

/// act(gate) * up, of equal shapes and dtypes: SwiGLU (silu), GEGLU (gelu) when the products are
/// separate. Source: Shazeer 2020, arXiv:2002.05202.
VOLVELLE_API Variable gated(const Variable& gate, const Variable& up, Activation activation);

}  // namespace volvelle
