#pragma once

#include <vector>

#include "studies/sinusoidal_measured.h"

namespace volvelle {

/// The study's tables, the pairs first.
std::vector<StudyTable> sinusoidal_tables(const SinusoidalStudyOptions& options,
                                          const SinusoidalMeasured& measured);
std::vector<StudyChart> sinusoidal_charts(const SinusoidalStudyOptions& options,
                                          const SinusoidalMeasured& measured);

}  // namespace volvelle
