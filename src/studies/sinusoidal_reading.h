#pragma once

#include <string>
#include <vector>

#include "studies/sinusoidal_measured.h"

namespace volvelle {

std::vector<StudyControl> sinusoidal_controls(const SinusoidalMeasured& measured);
std::vector<std::string> sinusoidal_reading(const SinusoidalStudyOptions& options,
                                            const SinusoidalMeasured& measured);

}  // namespace volvelle
