#pragma once

#include <string>
#include <vector>

#include "studies/norm_placement_plan.h"
#include "volvelle/report/study_result.h"

namespace volvelle {

/// A table with a row for each case, which begins with depth, placement and norm.
StudyTable table_of_cases(std::string key, std::string title, std::vector<StudyColumn> further);
void add_row(StudyTable& table, const PlacementCase& one, std::vector<StudyCell> further);

}  // namespace volvelle
