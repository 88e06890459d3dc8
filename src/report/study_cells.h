#pragma once

#include <string>

#include "volvelle/report/study_result.h"

namespace volvelle {

/// A cell as its column wants it in text; nothing for a missing one.
std::string cell_text(const StudyCell& cell, const StudyColumn& column);

/// In full, for CSV: lists with blanks between.
std::string cell_in_full(const StudyCell& cell);

}  // namespace volvelle
