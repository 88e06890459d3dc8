#pragma once

#include <string>
#include <vector>

#include "studies/rotary_measured.h"

namespace volvelle {

std::vector<StudyTable> rotary_report_tables(const RotaryStudyOptions& options,
                                             const RotaryMeasured& measured);
std::vector<StudyChart> rotary_report_charts(const RotaryMeasured& measured);
std::vector<StudyControl> rotary_report_controls(const RotaryMeasured& measured);
std::vector<std::string> rotary_report_reading(const RotaryStudyOptions& options,
                                               const RotaryMeasured& measured);

}  // namespace volvelle
