#pragma once

#include <string>
#include <vector>

#include "studies/extrapolation_contest.h"

namespace volvelle {

/// Sentences computed from what was measured.
std::vector<std::string> extrapolation_reading(const ExtrapolationOptions& options,
                                               const Contest& contest);

}  // namespace volvelle
