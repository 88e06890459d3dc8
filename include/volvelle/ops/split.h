#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"

namespace volvelle {

/// The last axis cut into parts of the given lengths, each a contiguous copy.
/// Throws: InvalidArgument unless the lengths are positive and add up to the axis.
VOLVELLE_API std::vector<Variable> split(const Variable& x, std::span<const std::int64_t> lengths);

}  // namespace volvelle
