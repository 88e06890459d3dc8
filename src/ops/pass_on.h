#pragma once

#include "volvelle/autograd/tape.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// The gradient of an input, in its shape and dtype, from an operator that has it as a tensor
/// already: handed over where nothing is there yet, added otherwise. Nothing happens where nobody
/// wants it. Others may hold the tensor: it is not written to.
void pass_on(GradientPass& pass, int input, Tensor gradient, int threads = 0);

}  // namespace volvelle
