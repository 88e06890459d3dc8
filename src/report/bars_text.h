#pragma once

#include <string>

#include "volvelle/report/study_result.h"
#include "volvelle/report/table.h"

namespace volvelle {

/// Horizontal bars from 0 with their numbers, those of one column together; a band is drawn as its
/// two ends. The chart was checked (check_chart).
std::string bars_text(const StudyChart& chart, const TextLayout& layout);

}  // namespace volvelle
