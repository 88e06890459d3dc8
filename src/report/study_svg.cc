#include <sstream>

#include "report/chart_data.h"
#include "report/sentence.h"
#include "report/svg_charts.h"
#include "volvelle/report/study_report.h"

namespace volvelle {
namespace {

// Letters across the page, by the widths of a common wide font.
int columns_of(const SvgText& how) {
  return static_cast<int>((kSvgWidth - 2 * kSvgMargin) / (how.size * (how.bold ? 0.64 : 0.55)));
}

// Broken at spaces; returns the base line after the last.
double draw_paragraph(SvgPage& page, const std::string& text, double y, const SvgText& how) {
  std::istringstream lines(wrapped(text, {.width = columns_of(how), .indent = 0}));
  for (std::string line; std::getline(lines, line); y += how.size + 5) {
    SvgText placed = how;
    placed.x = kSvgMargin;
    placed.y = y;
    page.text(line, placed);
  }
  return y;
}

double draw_chart(SvgPage& page, const StudyChart& chart, double top) {
  check_chart(chart);
  top = draw_paragraph(page, chart.title, top + 14, {.size = 14, .bold = true}) - 10;
  switch (chart.kind) {
    case StudyChart::Kind::lines:
      return draw_lines(page, chart, top);
    case StudyChart::Kind::bars:
      return draw_bars(page, chart, top);
    case StudyChart::Kind::hands:
      return draw_hands(page, chart, top);
    case StudyChart::Kind::heat_map:
      break;
  }
  return draw_heat_map(page, chart, top);
}

}  // namespace

std::string charts_svg(const std::string& title, const std::string& sentence,
                       const std::vector<StudyChart>& charts) {
  SvgPage page;
  double y = draw_paragraph(page, title, 34, {.size = 16, .bold = true});
  y = draw_paragraph(page, sentence, y, {.colour = "#555555"}) + 6;
  for (const StudyChart& chart : charts) y = draw_chart(page, chart, y) + 18;
  return page.document(kSvgWidth, y + 8, title + ": " + sentence);
}

std::string study_svg(const StudyResult& result) {
  SvgPage page;
  double y = draw_paragraph(page, "Study: " + result.name, 34, {.size = 16, .bold = true});
  y = draw_paragraph(page, result.question, y, {.colour = "#555555"});
  if (!result.complete) {
    y = draw_paragraph(page, "Stopped early: this is what was measured until then.", y,
                       {.colour = "#B00020", .bold = true});
  }
  y += 6;
  for (const StudyChart& chart : result.charts) y = draw_chart(page, chart, y) + 18;
  if (result.charts.empty()) {
    y = draw_paragraph(page, "This study has nothing to draw.", y + 12, {});
  }
  y += 8;
  for (const StudyControl& control : result.controls) {
    if (control.failed) {
      y = draw_paragraph(page,
                         "Control: " + sentence(control.what) +
                             " It failed as it must: " + sentence(control.figures),
                         y, {.size = 12, .colour = "#555555"});
    } else {
      y = draw_paragraph(page,
                         "THE CONTROL DID NOT FAIL, so this proves nothing: " +
                             sentence(control.what) + ' ' + sentence(control.figures),
                         y, {.colour = "#B00020", .bold = true});
    }
  }
  for (const std::string& limit : result.limits) {
    y = draw_paragraph(page, limit, y, {.size = 12, .colour = "#555555"});
  }
  return page.document(kSvgWidth, y + 8, result.name + ": " + result.question);
}

}  // namespace volvelle
