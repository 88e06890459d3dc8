#pragma once

#include "ops/checks.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// The documents that tokens belong to, int64 in the view's shape: equal ids where the view's are
/// equal. Throws InvalidArgument unless they are integers that int64 holds.
Tensor segment_ids(const OperatorChecks& checks, const View& segments);

}  // namespace volvelle
