#include "volvelle/report/chart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>

namespace volvelle {
namespace {

TEST(ReportChart, BarsAreInProportion) {
  const std::string text =
      render(BarChart{.bars = {{"a", 1}, {"bb", 2}}, .full = 4, .digits = 1}, {.width = 30});
  EXPECT_EQ(text,
            "  a   |#####               | 1\n"
            "  bb  |##########          | 2\n");
}

TEST(ReportChart, ValuesThatAreNotFiniteHaveNoBar) {
  const std::string text =
      render(BarChart{.bars = {{"a", std::numeric_limits<double>::quiet_NaN()}, {"b", 1}}});
  EXPECT_NE(text.find("| nan"), std::string::npos);
  EXPECT_EQ(text.find('#'), text.find('#', text.find('\n')));
}

TEST(ReportChart, ALineRunsFromItsFirstToItsLastValue) {
  const std::string text =
      render(LineChart{.values = {0, 1, 2}, .left = "a", .right = "b", .height = 3, .digits = 1});
  EXPECT_EQ(text,
            "  2 |  *\n"
            "    | *\n"
            "  0 |*\n"
            "    +---\n"
            "     a b\n");
}

TEST(ReportChart, ManyValuesAreAveragedIntoThePage) {
  std::vector<double> values(100'000, 1.0);
  std::fill(values.begin() + 50'000, values.end(), 3.0);
  const std::string text = render(LineChart{.values = values, .left = "0", .right = "n"});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u);
  EXPECT_NE(text.find("3 |"), std::string::npos);
}

TEST(ReportChart, NothingToDrawIsSaid) {
  EXPECT_EQ(render(LineChart{.values = {}, .left = "", .right = ""}), "  no values\n");
}

}  // namespace
}  // namespace volvelle
