#include "report/bars_text.h"
#include "report/chart_data.h"
#include "report/heat_map_text.h"
#include "report/lines_text.h"
#include "volvelle/report/study_report.h"

namespace volvelle {

std::string study_chart_text(const StudyChart& chart, const TextLayout& layout) {
  check_chart(chart);
  const std::string title = wrapped(chart.title, layout);
  switch (chart.kind) {
    case StudyChart::Kind::lines:
      return title + '\n' + lines_text(chart, layout);
    case StudyChart::Kind::bars:
      return title + '\n' + bars_text(chart, layout);
    case StudyChart::Kind::heat_map:
      break;
  }
  return title + '\n' + heat_map_text(chart, layout);
}

}  // namespace volvelle
