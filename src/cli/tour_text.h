#pragma once

#include <string>

#include "cli/tour_parts.h"
#include "volvelle/report/study_result.h"

namespace volvelle::cli {

/// A title within a part, underlined, with an empty line before and after.
std::string tour_heading(const std::string& title);

/// A study in short, with as many digits as the tour was told.
std::string tour_brief(StudyResult result, const TourStyle& style);

}  // namespace volvelle::cli
