#include "volvelle/studies/path_factors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "volvelle/base/error.h"
#include "volvelle/report/study_report.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;

double left(const StudyResult& result, std::size_t row) {
  return std::get<double>(result.tables[0].rows[row][1]);
}

TEST(PathFactors, LeaveTheDocumentsShares) {
  const StudyResult result = study_path_factors();
  ASSERT_EQ(result.tables[0].rows.size(), 3u);
  EXPECT_NEAR(left(result, 0), std::exp(24 * std::log(0.9)), 1e-15);
  EXPECT_NEAR(left(result, 1), std::exp(24 * std::log(1.02)), 1e-14);
  EXPECT_NEAR(left(result, 2), std::exp(24 * std::log(0.98)), 1e-15);
  const std::string text = study_text(result);
  for (const char* figure : {"0.080", "1.608", "0.616"}) EXPECT_THAT(text, HasSubstr(figure));
  EXPECT_LT(text.find("0.616"), text.find("Illustrative: not a model of a real network"));
}

TEST(PathFactors, TheUntouchedCopyFailsTheCheck) {
  const StudyResult result = study_path_factors({.layers = 1000});
  ASSERT_EQ(result.controls.size(), 1u);
  EXPECT_TRUE(result.controls[0].failed);
  EXPECT_THAT(result.controls[0].figures, HasSubstr("1.000"));
}

TEST(PathFactors, ReadsSmallLargeSteadyAndLostShares) {
  const StudyResult result =
      study_path_factors({.layers = 100'000, .factors = {0.5, 2, 1, 1.00001}});
  EXPECT_THAT(result.reading[0], HasSubstr("less than a double can hold"));
  EXPECT_THAT(result.reading[1], HasSubstr("more than a double can hold"));
  EXPECT_THAT(result.reading[2], HasSubstr("keeps the gradient's size"));
  EXPECT_THAT(result.reading[3], HasSubstr("layers double it"));
  const std::string svg = study_svg(result);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_LT(svg.size(), 40'000u);  // 100,000 points would be no picture
}

TEST(PathFactors, StopsWhereItIsTold) {
  int asked = 0;
  const StudyResult result = study_path_factors({}, {.stopped = [&] { return ++asked > 1; }});
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.tables[0].rows.size(), 1u);
}

void expect_refused(const PathFactorsOptions& options, const std::string& says) {
  try {
    study_path_factors(options);
    FAIL() << "not refused: " << says;
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr(says));
  }
}

TEST(PathFactors, RefusesWhatIsNoPath) {
  expect_refused({.layers = 0}, "layers must be 1 to 100,000, not 0");
  expect_refused({.layers = 100'001}, "not 100001");
  expect_refused({.factors = {}}, "no factor");
  expect_refused({.factors = {0.9, -1}}, "not -1");
  expect_refused({.factors = {0}}, "above 0");
  expect_refused({.factors = {std::numeric_limits<double>::quiet_NaN()}}, "not nan");
  expect_refused({.factors = {0.9, 0.9}}, "given twice");
}

}  // namespace
}  // namespace volvelle
