#pragma once

#include <string>
#include <vector>

#include "studies/warm_up_grid.h"

namespace volvelle {

/// Sentences computed from what was measured; where pre-LN (or, without it among the placements,
/// every placement) learned nowhere, one that says that there is none.
std::vector<std::string> warm_up_reading(const WarmUpOptions& options, const WarmUpGrid& grid);

}  // namespace volvelle
