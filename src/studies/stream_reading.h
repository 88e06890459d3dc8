#pragma once

#include <string>
#include <vector>

#include "studies/norm_placement_summary.h"

namespace volvelle {

/// Sentences on what layers do to the gradient of the stream.
void say_stream(const PlacementPlan& plan, const PlacementSummary& summary,
                std::vector<std::string>& lines);

}  // namespace volvelle
