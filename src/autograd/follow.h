#pragma once

#include <cstdint>

#include "volvelle/autograd/variable.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// Follows the tape back from `output`, as `backward` does. Meeting a node with a number below
/// `first` throws InvalidArgument: it was made outside of what is computed again.
void follow_back(const Variable& output, Tensor grad_output, std::uint64_t first = 0);

}  // namespace volvelle
