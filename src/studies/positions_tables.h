#pragma once

#include <vector>

#include "studies/positions_measured.h"

namespace volvelle {

std::vector<StudyTable> positions_tables(const PositionsMeasured& measured);
std::vector<StudyChart> positions_charts(const PositionsStudyOptions& options,
                                         const PositionsMeasured& measured);

}  // namespace volvelle
