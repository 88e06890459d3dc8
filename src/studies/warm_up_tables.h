#pragma once

#include <vector>

#include "studies/warm_up_grid.h"
#include "volvelle/report/study_result.h"

namespace volvelle {

/// What became of the runs, the failing rates, runs in pairs, and the first steps layer by layer.
std::vector<StudyTable> warm_up_tables(const WarmUpOptions& options, const WarmUpGrid& grid);

/// The share that learned over rates, and the first gradients over layers.
std::vector<StudyChart> warm_up_charts(const WarmUpOptions& options, const WarmUpGrid& grid);

}  // namespace volvelle
