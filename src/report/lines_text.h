#pragma once

#include <string>

#include "volvelle/report/study_result.h"
#include "volvelle/report/table.h"

namespace volvelle {

/// Lines over their bands on a grid of characters, with marked axes and what each mark means. The
/// chart was checked (check_chart).
std::string lines_text(const StudyChart& chart, const TextLayout& layout);

}  // namespace volvelle
