#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "support/sample_study.h"
#include "volvelle/base/error.h"
#include "volvelle/report/study_report.h"

namespace volvelle::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void expect_fits(const std::string& text, std::size_t width) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), width) << line;
    EXPECT_TRUE(line.empty() || line.back() != ' ') << '"' << line << '"';
  }
}

TEST(StudyText, ShowsEveryPartInOrderOnThePage) {
  const std::string text = study_text(sample_study());
  expect_fits(text, 80);
  std::size_t last = 0;
  for (const char* part :
       {"Study: sample\n=============\n", "Does a longer lever lift more?", "Set-up\n------\n",
        "  lever   oak\n", "Measured\n", "Lift by length", "By layer", "  Lift\n", "  Woods\n",
        "  Grid\n", "Control\n", "The lever without a pivot.",
        "The check it must fail: it lifts more than 1 kg.", "It fails it: 0 kg.", "Reading\n",
        "- Longer lifts more.", "Limits\n", "- One lever & one pivot."}) {
    const std::size_t found = text.find(part, last);
    ASSERT_NE(found, std::string::npos) << part << "\nin\n" << text;
    last = found;
  }
  EXPECT_THAT(text, Not(HasSubstr("DID NOT FAIL")));
  EXPECT_THAT(text, Not(HasSubstr("Stopped early")));
}

TEST(StudyText, NumbersHaveTheDigitsOfTheirColumn) {
  EXPECT_THAT(study_text(sample_study()),
              HasSubstr("  length  lift   share  held  note\n"
                        "  1.0     0.100  25%    yes   a \"first\", try\n"
                        "  2.0     0.080  78%    no\n"));
}

TEST(StudyText, AControlThatDidNotFailIsSaidFirstAndLast) {
  StudyResult result = sample_study();
  result.controls[0].failed = false;
  const std::string text = study_text(result);
  const std::size_t first = text.find("!!! THE CONTROL DID NOT FAIL");
  ASSERT_NE(first, std::string::npos);
  EXPECT_LT(first, text.find("Set-up"));
  EXPECT_GT(text.rfind("!!! THE CONTROL DID NOT FAIL"), text.find("Limits"));
  EXPECT_THAT(text, HasSubstr("IT DID NOT FAIL IT: 0 kg."));
  expect_fits(text, 80);
}

TEST(StudyText, InBriefItHasTablesReadingControlAndLimits) {
  StudyResult result = sample_study();
  result.controls[0].figures = "0 kg";
  const std::string text = study_brief(result);
  expect_fits(text, 80);
  for (const char* part : {"Lift by length", "By layer", "- Longer lifts more.",
                           "- Control: The lever without a pivot. It must fail this: it lifts more",
                           "It does: 0 kg.\n", "- One lever & one pivot."}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("Woods")));
  EXPECT_THAT(text, Not(HasSubstr("DID NOT FAIL")));
  result.controls[0].failed = false;
  EXPECT_THAT(study_brief(result), HasSubstr("!!! THE CONTROL DID NOT FAIL"));
}

TEST(StudyText, AStudyThatWasStoppedSaysSo) {
  StudyResult result = sample_study();
  result.complete = false;
  EXPECT_THAT(study_text(result), HasSubstr("Stopped early"));
}

TEST(StudyText, AWideTableGoesOnBelowItselfUnderItsFirstColumn) {
  StudyResult result;
  result.name = "wide";
  StudyTable table{.key = "rows", .title = "", .columns = {}, .rows = {{}}};
  for (int c = 0; c < 12; ++c) {
    table.columns.push_back({"c" + std::to_string(c), "column " + std::to_string(c), 0});
    table.rows[0].emplace_back(std::int64_t{100 + c});
  }
  result.tables = {table};
  const std::string text = study_text(result);
  expect_fits(text, 80);
  std::size_t first_columns = 0;
  for (std::size_t at = text.find("column 0"); at != std::string::npos;
       at = text.find("column 0", at + 1)) {
    ++first_columns;
  }
  EXPECT_EQ(first_columns, 2u) << text;
  for (int c = 0; c < 12; ++c) EXPECT_THAT(text, HasSubstr(std::to_string(100 + c)));
}

TEST(StudyText, FurtherPartsBeginWithAllColumnsThatSayWhichRowItIs) {
  StudyTable table{.key = "rows", .title = "", .columns = {}, .rows = {{}}, .identifying = 3};
  for (int c = 0; c < 12; ++c) {
    table.columns.push_back({"c" + std::to_string(c), "column " + std::to_string(c), 0});
    table.rows[0].emplace_back(std::int64_t{100 + c});
  }
  StudyResult result;
  result.name = "wide";
  result.tables = {table};
  std::string text = study_text(result);
  expect_fits(text, 80);
  EXPECT_THAT(text, HasSubstr("\n\n  column 0  column 1  column 2  column 8"));

  // Never more than half of the page: what they identify has to stand beside them.
  result.tables[0].identifying = 9;
  text = study_text(result);
  expect_fits(text, 80);
  EXPECT_THAT(text, HasSubstr("\n\n  column 0  column 1  column 2  column 3  column 8"));
}

TEST(StudyText, ALongNameInTheSetUpStandsAboveWhatItIs) {
  StudyResult result;
  result.name = "set-up";
  result.setup = {{"short", "one"},
                  {std::string(30, 'n'), "two"},
                  {std::string(31, 'm'), std::string(31, 'm')}};
  EXPECT_THAT(study_text(result), HasSubstr("  short  one\n  " + std::string(30, 'n') +
                                            "\n         two\n  " + std::string(31, 'm') + "\n"));
}

TEST(StudyText, ALongTableLeavesOutItsMiddleAndKeepsItsEnds) {
  StudyTable table{.key = "rows", .title = "", .columns = {{"n", "n", 0}}, .rows = {}};
  for (std::int64_t i = 1; i <= 100; ++i) table.rows.emplace_back(1, StudyCell(i));
  table.text_rows = 6;
  StudyResult result;
  result.tables = {table};
  EXPECT_THAT(study_text(result), HasSubstr("    1\n    2\n    3\n  ...\n   98\n   99\n  100\n"));
  result.tables[0].text_rows = 0;
  EXPECT_THAT(study_text(result), Not(HasSubstr("98")));
}

TEST(StudyChartText, LinesRunOverTheirBandBetweenMarkedAxes) {
  StudyChart chart;
  chart.title = "T";
  chart.x_label = "x";
  chart.series = {{"s", {0, 10}, {0, 10}, {0, 5}, {0, 15}}};
  const std::string text = study_chart_text(chart, {.width = 40});
  expect_fits(text, 40);
  std::istringstream lines(text);
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(line);
  EXPECT_EQ(rows[0], "  T");
  EXPECT_EQ(rows[2].substr(0, 6), "  15 +");  // the top of the band
  EXPECT_EQ(rows[2].back(), '.');
  EXPECT_EQ(rows[16].substr(0, 7), "   0 +*");
  EXPECT_THAT(text, HasSubstr("* s (band .)\n"));
}

TEST(StudyChartText, WhatHasNoPlaceOnAnAxisOfPowersIsSaid) {
  const StudyResult sample = sample_study();
  EXPECT_THAT(study_chart_text(sample.charts[0]), HasSubstr("1 point has no place"));
}

TEST(StudyChartText, BarsBeginAtZeroAndGoBothWays) {
  const std::string text = study_chart_text(sample_study().charts[1]);
  EXPECT_THAT(text, HasSubstr("#[#####     ]|"));
  EXPECT_THAT(text, HasSubstr("4 (3 to 5)"));
  std::istringstream lines(text);
  std::string oak, pine;
  while (oak.find("  oak ") != 0) ASSERT_TRUE(std::getline(lines, oak));
  std::getline(lines, pine);
  // Oak's bar begins where pine's ends.
  EXPECT_EQ(oak.find('#'), pine.find_last_of('#') + 1) << text;
}

TEST(StudyChartText, AHeatMapShadesAndLabelsItsCells) {
  const std::string text = study_chart_text(sample_study().charts[2]);
  EXPECT_THAT(text, HasSubstr(".. 0/3"));
  EXPECT_THAT(text, HasSubstr("@@ 3/3"));
  EXPECT_THAT(text, HasSubstr("?"));
  EXPECT_THAT(text, HasSubstr("marks from . (0) to @ (1)"));
}

TEST(StudyChartText, AHeatMapOfOneValueShadesByItsOwnEnds) {
  StudyChart chart = sample_study().charts[2];
  chart.shades_to = 1;
  for (auto& row : chart.cells) row.assign(row.size(), 1.0);
  EXPECT_THAT(study_chart_text(chart), HasSubstr("marks from . (0) to @ (1)"));
  EXPECT_THAT(study_chart_text(chart), HasSubstr("@@ "));
  for (auto& row : chart.cells) row.assign(row.size(), 0.0);
  EXPECT_THAT(study_chart_text(chart), Not(HasSubstr("@@ ")));
}

TEST(StudyChartText, AWideHeatMapGoesOnBelowItself) {
  StudyChart chart = sample_study().charts[2];
  chart.cell_labels.clear();
  for (auto* row : {&chart.cells[0], &chart.cells[1]}) row->assign(20, 0.5);
  chart.columns.clear();
  for (int c = 0; c < 20; ++c) chart.columns.push_back("col" + std::to_string(c));
  const std::string text = study_chart_text(chart);
  expect_fits(text, 80);
  for (const std::string& column : chart.columns) EXPECT_THAT(text, HasSubstr(column));
  EXPECT_THAT(text, Not(HasSubstr("...")));
}

TEST(StudyChartText, ChartsWhosePartsDoNotFitAreRefused) {
  const StudyResult sample = sample_study();
  StudyChart chart = sample.charts[0];
  chart.series[0].x.pop_back();
  EXPECT_THROW(study_chart_text(chart), InternalError);
  chart = sample.charts[0];
  chart.series[0].low.pop_back();
  EXPECT_THROW(study_chart_text(chart), InternalError);
  chart = sample.charts[1];
  chart.log_y = true;
  EXPECT_THROW(study_chart_text(chart), InternalError);
  chart = sample.charts[1];
  chart.columns.pop_back();
  EXPECT_THROW(study_chart_text(chart), InternalError);
  chart = sample.charts[2];
  chart.cells[0].pop_back();
  EXPECT_THROW(study_chart_text(chart), InternalError);
  chart = sample.charts[2];
  chart.cell_labels.pop_back();
  EXPECT_THROW(study_chart_text(chart), InternalError);
  chart = sample.charts[2];
  chart.lines.clear();
  EXPECT_THROW(study_chart_text(chart), InternalError);
}

}  // namespace
}  // namespace volvelle::testing
