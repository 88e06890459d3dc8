#include <cmath>
#include <numbers>

#include "report/bars_text.h"
#include "report/chart_data.h"
#include "report/heat_map_text.h"
#include "report/lines_text.h"
#include "volvelle/report/study_report.h"

namespace volvelle {
namespace {

// Letters draw no clocks: where each hand stands, from 0 up to a whole turn of 360.
StudyChart in_degrees(StudyChart chart) {
  constexpr double kTurn = 2 * std::numbers::pi;
  for (auto& line : chart.cells) {
    for (double& cell : line) cell = (cell / kTurn - std::floor(cell / kTurn)) * 360;
  }
  chart.shades_from = 0;
  chart.shades_to = 360;
  return chart;
}

}  // namespace

std::string study_chart_text(const StudyChart& chart, const TextLayout& layout) {
  check_chart(chart);
  const std::string title = wrapped(chart.title, layout);
  switch (chart.kind) {
    case StudyChart::Kind::lines:
      return title + '\n' + lines_text(chart, layout);
    case StudyChart::Kind::bars:
      return title + '\n' + bars_text(chart, layout);
    case StudyChart::Kind::hands:
      return title + '\n' + heat_map_text(in_degrees(chart), layout);
    case StudyChart::Kind::heat_map:
      break;
  }
  return title + '\n' + heat_map_text(chart, layout);
}

}  // namespace volvelle
