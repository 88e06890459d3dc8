#pragma once

#include <cstdint>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"

namespace volvelle {

/// Elements [first, first + count) along the first axis, without a copy: part of a packed matrix of
/// weights, or of its bias. Throws InvalidArgument for rows that x does not have.
VOLVELLE_API Variable rows(const Variable& x, std::int64_t first, std::int64_t count);

}  // namespace volvelle
