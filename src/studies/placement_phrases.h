#pragma once

#include <string>
#include <vector>

#include "studies/norm_placement_summary.h"

namespace volvelle {

/// "a", "a and b", "a, b and c"
std::string listed(const std::vector<std::string>& parts);

/// "1.15, 1.71 and 2.52"
std::string figures(const std::vector<double>& values, int digits);

/// "post", or "post (rms norm)" where there are several kinds.
std::string named(const PlacementPlan& plan, const std::string& placement, NormKind norm);

/// Of one placement and norm, in the order of depth, those whose figures may be read.
std::vector<const CaseSummary*> readable_cases(const PlacementSummary& summary,
                                               const std::string& placement, NormKind norm);

/// "12, 24 and 48"
std::string depths_of(const std::vector<const CaseSummary*>& cases);

}  // namespace volvelle
