#pragma once

#include <cstdint>
#include <vector>

#include "volvelle/tensor/view.h"

namespace volvelle {

/// Positions of a batch in row-major order. Throws InvalidArgument, beginning with "[operation]",
/// unless they are there, integers and none is negative; `end` > 0: nor `end` or more, the length
/// of a table, which the message says.
std::vector<std::int64_t> position_values(const char* operation, const View& positions,
                                          std::int64_t end = 0);

}  // namespace volvelle
