#pragma once

#include <cstdint>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"

namespace volvelle {

/// Each element is made 0 with probability p in [0, 1], the others are divided by 1 - p. Which ones
/// is a function of the seed and the element's index (Philox4x32-10): any thread count and a second
/// run drop the same. p = 0 gives x itself.
VOLVELLE_API Variable dropout(const Variable& x, double p, std::uint64_t seed);

}  // namespace volvelle
