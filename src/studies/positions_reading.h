#pragma once

#include <string>
#include <vector>

#include "studies/positions_measured.h"

namespace volvelle {

std::vector<StudyControl> positions_controls(const PositionsMeasured& measured);
std::vector<std::string> positions_reading(const PositionsStudyOptions& options,
                                           const PositionsMeasured& measured);
/// Pair 0 of position 2, turned by `shift` radians.
std::vector<double> turned_pair_two(const PositionRows& table, std::int64_t shift);

}  // namespace volvelle
