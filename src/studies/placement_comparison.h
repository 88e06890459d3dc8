#pragma once

#include <string>
#include <vector>

#include "studies/norm_placement_summary.h"

namespace volvelle {

/// Sentences on one placement against another, depth by depth: which is the more even, how they
/// differ seed by seed, and whether another kind of norm changes that.
void say_comparisons(const PlacementPlan& plan, const PlacementSummary& summary,
                     std::vector<std::string>& lines);

}  // namespace volvelle
