#include "cli/tour_text.h"

#include "volvelle/report/study_report.h"

namespace volvelle::cli {

std::string tour_heading(const std::string& title) {
  return '\n' + title + '\n' + std::string(title.size(), '-') + "\n\n";
}

std::string tour_brief(StudyResult result, const TourStyle& style) {
  if (style.digits) {
    for (StudyTable& table : result.tables) {
      for (StudyColumn& column : table.columns) column.digits = *style.digits;
    }
  }
  return study_brief(result);
}

}  // namespace volvelle::cli
