#pragma once

#include <cstdint>

#include "volvelle/autograd/variable.h"

namespace volvelle {

/// Multiplies rows [first, first + count) of a parameter in place.
void scale_rows(Variable& parameter, std::int64_t first, std::int64_t count, double factor);

}  // namespace volvelle
