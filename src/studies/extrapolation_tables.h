#pragma once

#include <vector>

#include "studies/extrapolation_contest.h"
#include "volvelle/report/study_result.h"

namespace volvelle {

/// Every run; every scheme by band; what each scheme is; rare rows of a learned table; the order
/// task.
std::vector<StudyTable> extrapolation_tables(const ExtrapolationOptions& options,
                                             const Contest& contest);

/// Loss and accuracies over positions.
std::vector<StudyChart> extrapolation_charts(const ExtrapolationOptions& options,
                                             const Contest& contest);

}  // namespace volvelle
