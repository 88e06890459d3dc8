#include "volvelle/report/number.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <random>

namespace volvelle {
namespace {

TEST(ReportNumber, ShortestReadsBackAsTheSameFloatAndTheSameDouble) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const double wide =
        std::ldexp(static_cast<double>(random()) - 9e18, -static_cast<int>(random() % 200));
    const float narrow = static_cast<float>(wide);
    double read_wide = 0;
    float read_narrow = 0;
    const std::string a = shortest(wide);
    const std::string b = shortest(narrow);
    std::from_chars(a.data(), a.data() + a.size(), read_wide);
    std::from_chars(b.data(), b.data() + b.size(), read_narrow);
    ASSERT_EQ(read_wide, wide) << a;
    ASSERT_EQ(read_narrow, narrow) << b;
  }
  EXPECT_EQ(shortest(0.1f), "0.1");  // a float has its own shortest form, not that of its double
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(std::numeric_limits<float>::quiet_NaN()), "nan");
  EXPECT_EQ(shortest(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(ReportNumber, ScientificKeepsItsDigits) {
  EXPECT_EQ(scientific(1.0995e12, 3), "1.100e+12");
  EXPECT_EQ(scientific(0, 2), "0.00e+00");
  EXPECT_EQ(scientific(-0.00123, 1), "-1.2e-03");
  EXPECT_EQ(scientific(std::nan(""), 3), "nan");
}

TEST(ReportNumber, RoundedLeavesOutTrailingZerosAndTheSignOfZero) {
  EXPECT_EQ(rounded(0.70710678, 4), "0.7071");
  EXPECT_EQ(rounded(0.5, 4), "0.5");
  EXPECT_EQ(rounded(2, 4), "2");
  EXPECT_EQ(rounded(-0.0, 4), "0");
  EXPECT_EQ(rounded(100, 0), "100");
  EXPECT_EQ(rounded(-1.25, 1), "-1.2");
}

TEST(ReportNumber, RoundedNeverShowsAFalseZero) {
  EXPECT_EQ(rounded(0.00004, 4), "4e-05");
  EXPECT_EQ(rounded(-1.2345e-9, 3), "-1.23e-09");
  EXPECT_EQ(rounded(1e30, 4), "1e+30");
  EXPECT_EQ(rounded(0.2, 0), "2e-01");
  EXPECT_EQ(rounded(std::numeric_limits<double>::infinity(), 4), "inf");
}

TEST(ReportNumber, FixedKeepsItsZeros) {
  EXPECT_EQ(fixed(0.0798, 3), "0.080");
  EXPECT_EQ(fixed(2, 2), "2.00");
  EXPECT_EQ(fixed(-0.0, 1), "0.0");
  EXPECT_EQ(fixed(77.493, 0), "77");
  EXPECT_EQ(fixed(1.2e-9, 3), "1.2e-09");  // not a false 0
  EXPECT_EQ(fixed(1.25e9, 2), "1.2e+09");
  EXPECT_EQ(fixed(std::numeric_limits<double>::infinity(), 2), "inf");
}

TEST(ReportNumber, GroupedPutsCommasBetweenThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(65536), "65,536");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
}

TEST(ReportNumber, DurationChoosesItsUnit) {
  EXPECT_EQ(duration(1.5), "1.50 s");
  EXPECT_EQ(duration(0.0123), "12.3 ms");
  EXPECT_EQ(duration(0.0009997), "1.00 ms");
  EXPECT_EQ(duration(441e-9), "441 ns");
  EXPECT_EQ(duration(0), "0.00 ns");
}

}  // namespace
}  // namespace volvelle
