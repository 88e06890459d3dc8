#pragma once

#include <vector>

#include "studies/norm_placement_summary.h"
#include "volvelle/report/study_result.h"

namespace volvelle {

/// What layers do to the gradient of the stream, measured: the factor of each, how much of the
/// gradient is passed on untouched, and what a norm on the stream does to it.
std::vector<StudyTable> stream_tables(const PlacementPlan& plan, const PlacementSummary& summary);

}  // namespace volvelle
