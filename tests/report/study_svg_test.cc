#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "report/svg_page.h"
#include "support/sample_study.h"
#include "volvelle/base/error.h"
#include "volvelle/report/study_report.h"

namespace volvelle::testing {
namespace {

using ::testing::HasSubstr;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(StudySvg, DrawsAllChartsWithLegendBandAndScale) {
  const std::string svg = study_svg(sample_study());
  EXPECT_EQ(svg.find("<svg xmlns=\"http://www.w3.org/2000/svg\""), 0u);
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
  for (const char* text :
       {">Lift<", ">Woods<", ">Grid<", ">oak<", ">pine<", ">kilograms<", ">3/3<", ">Study: sample<",
        "It failed as it must", ">One lever &amp; one pivot.<", "1 point has no place"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_EQ(count(svg, "fill-opacity"), 1u);        // one band
  EXPECT_EQ(count(svg, "<polyline"), 4u);           // two lines, two of them in the legend
  EXPECT_THAT(svg, HasSubstr("fill=\"#eeeeee\""));  // the cell that is not there
  EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
}

TEST(StudySvg, EveryPlaceIsANumberWithinThePage) {
  const std::string svg = study_svg(sample_study());
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  std::smatch box;
  ASSERT_TRUE(std::regex_search(svg, box, std::regex("viewBox=\"0 0 ([0-9.]+) ([0-9.]+)\"")));
  const double width = std::stod(box[1]), height = std::stod(box[2]);
  const std::regex place("[ \"](x|x1|x2|cx|y|y1|y2|cy)=\"(-?[0-9.]+)\"");
  int places = 0;
  for (std::sregex_iterator it(svg.begin(), svg.end(), place), end; it != end; ++it, ++places) {
    const double at = std::stod((*it)[2]);
    const bool across = (*it)[1].str().find('x') != std::string::npos;
    EXPECT_GE(at, 0) << it->str();
    EXPECT_LE(at, across ? width : height) << it->str();
  }
  EXPECT_GT(places, 100);
}

TEST(StudySvg, HandsPointWhereTheirAnglesSay) {
  StudyChart chart{.kind = StudyChart::Kind::hands,
                   .key = "hands",
                   .title = "Clocks",
                   .columns = {"0", "1", "2"},
                   .lines = {"slow"}};
  chart.cells = {{0, std::acos(-1.0) / 2, NAN}};
  const std::string svg = charts_svg("Two hands", "One clock has none.", {chart});
  EXPECT_EQ(count(svg, "<circle"), 3u);
  EXPECT_EQ(count(svg, "stroke-width=\"2\""), 2u);
  EXPECT_THAT(svg, HasSubstr(">Two hands<"));
  // To the right: y stays. Up: x stays, y is smaller.
  std::smatch hand;
  const std::regex line(
      "<line x1=\"([0-9.]+)\" y1=\"([0-9.]+)\" x2=\"([0-9.]+)\" y2=\"([0-9.]+)\"");
  std::string rest = svg;
  ASSERT_TRUE(std::regex_search(rest, hand, line));
  EXPECT_EQ(hand[2], hand[4]);
  EXPECT_GT(std::stod(hand[3]), std::stod(hand[1]));
  rest = hand.suffix();
  ASSERT_TRUE(std::regex_search(rest, hand, line));
  EXPECT_EQ(hand[1], hand[3]);
  EXPECT_LT(std::stod(hand[4]), std::stod(hand[2]));
  // In letters: degrees.
  EXPECT_THAT(study_chart_text(chart), HasSubstr("90"));
}

TEST(StudySvg, AControlThatDidNotFailAndAnEarlyEndAreWrittenIntoThePicture) {
  StudyResult result = sample_study();
  result.controls[0].failed = false;
  result.complete = false;
  const std::string svg = study_svg(result);
  EXPECT_THAT(svg, HasSubstr("THE CONTROL DID NOT FAIL"));
  EXPECT_THAT(svg, HasSubstr("Stopped early"));
}

TEST(StudySvg, FlatLinesEmptyMapsAndNoChartsAreDrawn) {
  StudyResult result = sample_study();
  result.charts[0].series = {{"flat", {1, 2}, {3, 3}, {}, {}}, {"one point", {1}, {3}, {}, {}}};
  result.charts[2].cells = {{std::nan(""), std::nan("")}, {std::nan(""), std::nan("")}};
  EXPECT_EQ(study_svg(result).find("nan"), std::string::npos);
  result.charts.clear();
  EXPECT_THAT(study_svg(result), HasSubstr("nothing to draw"));
}

TEST(StudySvg, ChartsWhosePartsDoNotFitAreRefused) {
  StudyResult result = sample_study();
  result.charts[2].columns.push_back("10");
  EXPECT_THROW(study_svg(result), InternalError);
}

// Relative lightness of "#rrggbb".
double lightness(const std::string& colour) {
  const int value = std::stoi(colour.substr(1), nullptr, 16);
  return 0.2126 * (value >> 16) + 0.7152 * (value >> 8 & 255) + 0.0722 * (value & 255);
}

TEST(StudySvg, TheColourScaleGrowsLighterAllTheWay) {
  for (int i = 1; i <= 20; ++i) {
    EXPECT_GT(lightness(scale_colour(i / 20.0)), lightness(scale_colour((i - 1) / 20.0))) << i;
  }
  EXPECT_EQ(scale_colour(0), "#00224e");
  EXPECT_EQ(scale_colour(1), "#fee838");
  EXPECT_TRUE(is_dark(0));
  EXPECT_FALSE(is_dark(1));
}

}  // namespace
}  // namespace volvelle::testing
