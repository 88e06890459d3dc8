#pragma once

#include <string>

#include "volvelle/report/study_result.h"
#include "volvelle/report/table.h"

namespace volvelle {

/// A grid of labelled cells, each behind a mark that grows darker with its value, and the scale of
/// the marks. The chart was checked (check_chart).
std::string heat_map_text(const StudyChart& chart, const TextLayout& layout);

}  // namespace volvelle
