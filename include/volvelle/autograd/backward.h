#pragma once

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// Gradients of a loss with one element by every leaf that asked for one, added to what the leaves
/// hold. Operators are gone through in the reverse of the order in which they ran, so sums have one
/// order; what an operator saved is freed once it was passed.
/// Throws:  InvalidArgument (not one element; not on a tape; a tape that was already followed:
///          gradients of gradients are not computed; numbers changed in place after they were
///          saved), and what operators throw. Leaves may then hold part of their gradients.
VOLVELLE_API void backward(const Variable& loss);

/// The same for sum(grad_output * output), for an output of any shape; grad_output has its shape
/// and dtype.
VOLVELLE_API void backward(const Variable& output, const View& grad_output);

}  // namespace volvelle
