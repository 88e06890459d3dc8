#pragma once

#include <string>
#include <vector>

#include "studies/norm_placement_summary.h"

namespace volvelle {

/// Sentences computed from the figures: the same question with other figures reads otherwise. What
/// is rounding noise gets no reading but that.
std::vector<std::string> placement_reading(const PlacementPlan& plan,
                                           const PlacementSummary& summary);

/// What the figures do not say, and what one would decide by.
std::vector<std::string> placement_limits();

}  // namespace volvelle
