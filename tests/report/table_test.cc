#include "volvelle/report/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace volvelle {
namespace {

LabelledMatrix counting(std::int64_t rows, std::int64_t columns) {
  return {
      .rows = rows,
      .columns = columns,
      .row_label = [](std::int64_t i) { return "row " + std::to_string(i); },
      .column_label = [](std::int64_t j) { return "c" + std::to_string(j); },
      .cell = [](std::int64_t i, std::int64_t j) { return std::to_string(i * 1000 + j); },
  };
}

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

TEST(ReportTable, NumbersStandPointUnderPoint) {
  const Table table{.titles = {"name", "value"},
                    .rows = {{"a", "0.6698"}, {"b", "12"}, {"c", "-1.5"}, {"d", "."}}};
  EXPECT_EQ(render(table),
            "  name  value\n"
            "  a      0.6698\n"
            "  b     12\n"
            "  c     -1.5\n"
            "  d      .\n");
}

TEST(ReportTable, AMatrixThatFitsIsShownWhole) {
  EXPECT_EQ(render(counting(2, 3)),
            "           c0    c1    c2\n"
            "  row 0     0     1     2\n"
            "  row 1  1000  1001  1002\n");
}

TEST(ReportTable, AWideMatrixKeepsItsFirstAndLastColumnsAndThePage) {
  const std::string text = render(counting(3, 1000));
  EXPECT_LE(longest_line(text), 80u);
  EXPECT_NE(text.find(" c0 "), std::string::npos);
  EXPECT_NE(text.find("c999"), std::string::npos);
  EXPECT_NE(text.find("..."), std::string::npos);
  EXPECT_GT(longest_line(text), 60u);  // the page is used
}

TEST(ReportTable, ATallMatrixAsksOnlyForTheCellsItShows) {
  LabelledMatrix matrix = counting(1'000'000, 2);
  int asked = 0;
  matrix.cell = [&](std::int64_t, std::int64_t) { return ++asked, std::string("1"); };
  const std::string text = render(matrix);
  EXPECT_LT(asked, 100);
  EXPECT_NE(text.find("row 999999"), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 18);  // titles, 16 rows, the gap
}

TEST(ReportTable, AMatrixWithoutColumnLabelsHasNoTitleLine) {
  LabelledMatrix matrix = counting(1, 2);
  matrix.column_label = [](std::int64_t) { return std::string(); };
  EXPECT_EQ(render(matrix), "  row 0  0  1\n");
  matrix.columns = 100;
  const std::string elided = render(matrix);
  EXPECT_NE(elided.find("..."), std::string::npos);
  EXPECT_EQ(std::count(elided.begin(), elided.end(), '\n'), 1);
}

TEST(ReportTable, EmptyMatricesRender) {
  EXPECT_EQ(render(counting(0, 0)), "");
  EXPECT_EQ(render(counting(2, 0)), "  row 0\n  row 1\n");
}

TEST(ReportTable, BlocksStandBesideEachOtherWhenTheyFitAndBelowWhenNot) {
  EXPECT_EQ(beside({"  ab\n  c\n", "  x\n"}), "  ab    x\n  c\n");
  const std::string wide = std::string(50, 'a') + '\n';
  EXPECT_EQ(beside({wide, wide}), wide + '\n' + wide);
}

TEST(ReportTable, TextIsBrokenAtSpaces) {
  EXPECT_EQ(wrapped("one two three", {.width = 8, .indent = 1}, 2), " one two\n   three\n");
  EXPECT_EQ(wrapped("unbreakable", {.width = 4, .indent = 0}), "unbreakable\n");
}

}  // namespace
}  // namespace volvelle
