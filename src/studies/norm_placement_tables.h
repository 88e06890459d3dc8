#pragma once

#include <vector>

#include "studies/norm_placement_summary.h"
#include "volvelle/report/study_result.h"

namespace volvelle {

/// All tables of the study, the main one ("rows") first.
std::vector<StudyTable> placement_tables(const PlacementPlan& plan,
                                         const PlacementSummary& summary);

/// Gradient norm by layer, with the band over seeds: a chart for each depth and norm; where the
/// stream is measured each layer's factor as well.
std::vector<StudyChart> placement_charts(const PlacementPlan& plan,
                                         const PlacementSummary& summary);

/// The loss that does not depend on what goes in, which must be found out.
StudyControl placement_control(const PlacementPlan& plan,
                               const std::vector<std::optional<CloseLook>>& control);

}  // namespace volvelle
