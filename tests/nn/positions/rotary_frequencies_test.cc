#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "volvelle/base/error.h"
#include "volvelle/nn/positions/rotary.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;

RotaryFrequencies frequencies(const std::string& settings, std::int64_t head_width,
                              std::int64_t length = 0) {
  return rotary_frequencies(rotary_options(parse_positions("rotary(" + settings + ")")), head_width,
                            length);
}

std::string refusal(const std::string& settings, std::int64_t head_width = 8) {
  try {
    frequencies(settings, head_width);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "(nothing was refused)";
}

// What each pair was multiplied by.
std::vector<double> changes(const std::string& settings, double base, std::int64_t width,
                            std::int64_t length = 0) {
  std::vector<double> ratios = frequencies(settings, width, length).frequencies;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    ratios[i] /= std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(width));
  }
  return ratios;
}

TEST(RotaryFrequencies, HaveTheWavelengthsOfTheDocument) {
  const RotaryFrequencies made = frequencies("", 8);
  const double wavelengths[] = {6.2832, 62.832, 628.32, 6283.2};
  ASSERT_EQ(made.frequencies.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(2 * std::numbers::pi / made.frequencies[i], wavelengths[i], wavelengths[i] * 1e-5);
  }
  EXPECT_EQ(made.attention, 1);
}

TEST(RotaryFrequencies, OfAPartAreThoseOfItsOwnWidth) {
  EXPECT_EQ(frequencies("partial=0.25", 32).frequencies, frequencies("", 8).frequencies);
  EXPECT_EQ(frequencies("partial=8", 32).frequencies, frequencies("", 8).frequencies);
  EXPECT_EQ(frequencies("partial=0.4", 32).frequencies.size(), 6U);  // floor(12.8) = 12 columns
}

TEST(RotaryFrequencies, YarnBoundsComeFromTheOriginalLength) {
  const std::vector<double> change =
      changes("base=1e6, scaling=yarn, factor=4, original=32768", 1e6, 128);
  EXPECT_DOUBLE_EQ(change[23], 1);
  EXPECT_LT(change[24], 1);
  EXPECT_GT(change[39], 0.25);
  EXPECT_DOUBLE_EQ(change[40], 0.25);
  EXPECT_NEAR(change[30], 1 - 0.75 * 7 / 17, 1e-12);
  // With bounds as they fall: c(32) = 23.596..., c(1) = 39.65...
  const std::vector<double> exact =
      changes("base=1e6, scaling=yarn, factor=4, original=32768, truncate=no", 1e6, 128);
  EXPECT_NEAR(exact[24], 1 - 0.75 * (24 - 23.5962) / (39.6503 - 23.5962), 1e-4);
}

TEST(RotaryFrequencies, YarnScalesCosinesByTheFactor) {
  const auto attention = [](const char* more) {
    return frequencies(std::string("scaling=yarn, factor=4, original=64") + more, 8).attention;
  };
  EXPECT_DOUBLE_EQ(attention(""), 0.1 * std::log(4) + 1);
  EXPECT_DOUBLE_EQ(attention(", attention=1.5"), 1.5);
  EXPECT_DOUBLE_EQ(attention(", mscale=2, mscale-all=1"),
                   (0.2 * std::log(4) + 1) / (0.1 * std::log(4) + 1));
}

TEST(RotaryFrequencies, Llama3SlowsByWavelength) {
  const std::vector<double> change =
      changes("base=500000, scaling=llama3, factor=8, low=1, high=4, original=8192", 500000, 128);
  EXPECT_DOUBLE_EQ(change[28], 1);
  EXPECT_NEAR(change[32], 0.3711, 5e-5);
  for (std::size_t i = 35; i < 64; ++i) EXPECT_DOUBLE_EQ(change[i], 0.125);
  EXPECT_GT(change[34], 0.125);
}

TEST(RotaryFrequencies, DynamicBaseGrowsWithTheLengthAndComesBack) {
  const RotaryOptions options =
      rotary_options(parse_positions("rotary(scaling=dynamic, factor=2, original=2048)"));
  const auto base = [&](std::int64_t length) {
    return std::round(rotary_frequencies(options, 128, length).base);
  };
  EXPECT_EQ(base(2048), 10000);
  EXPECT_EQ(base(3000), 19499);
  EXPECT_EQ(base(4096), 30528);
  EXPECT_EQ(base(12), 10000);
  EXPECT_TRUE(depends_on_length(options));
}

TEST(RotaryFrequencies, NtkStretchesTheSlowestPairByTheFactor) {
  const std::vector<double> change = changes("scaling=ntk, factor=4", 10000, 64);
  EXPECT_DOUBLE_EQ(change[0], 1);
  EXPECT_NEAR(change[31], 0.25, 1e-12);
  EXPECT_NEAR(frequencies("scaling=ntk, factor=4", 64).base, 10000 * std::pow(4, 64.0 / 62), 1e-6);
}

TEST(RotaryFrequencies, LinearDividesAll) {
  for (const double change : changes("scaling=linear, factor=8", 10000, 16)) {
    EXPECT_DOUBLE_EQ(change, 0.125);
  }
}

TEST(RotaryFrequencies, LongropeDividesByTheListOfItsLength) {
  const std::string text = "scaling=longrope, original=4096, max=131072, short=[1, 2], long=[4, 8]";
  EXPECT_EQ(changes(text, 10000, 4, 4096), (std::vector<double>{1, 0.5}));
  EXPECT_EQ(changes(text, 10000, 4, 4097), (std::vector<double>{0.25, 0.125}));
  EXPECT_NEAR(frequencies(text, 4).attention, 1.1902, 5e-5);
  EXPECT_NEAR(
      frequencies("scaling=longrope, original=4096, factor=32, short=[1, 1], long=[4, 8]", 4)
          .attention,
      1.1902, 5e-5);
  EXPECT_EQ(frequencies(text + ", attention=1.25", 4).attention, 1.25);
}

TEST(RotaryFrequencies, ProportionalCountsExponentsOverTheWholeHead) {
  const std::vector<double> made =
      frequencies("base=1e6, scaling=proportional, partial=0.25", 32).frequencies;
  ASSERT_EQ(made.size(), 16U);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_DOUBLE_EQ(made[i], i < 4 ? std::pow(1e6, -static_cast<double>(i) / 16) : 0.0);
  }
  EXPECT_DOUBLE_EQ(frequencies("scaling=proportional, partial=0.5, factor=2", 8).frequencies[1],
                   0.05);
}

TEST(RotaryFrequencies, RefuseNumbersThatAreMissingOrNotRead) {
  EXPECT_THAT(refusal("scaling=linear"), HasSubstr("scaling=linear needs factor"));
  EXPECT_THAT(refusal("factor=2"), HasSubstr("scaling=none does not read factor"));
  EXPECT_THAT(refusal("scaling=yarn, factor=2"), HasSubstr("scaling=yarn needs original"));
  EXPECT_THAT(refusal("scaling=yarn, factor=2, original=8, low=1"),
              HasSubstr("scaling=yarn does not read low"));
  EXPECT_THAT(refusal("scaling=llama3, factor=8, original=64, low=1"), HasSubstr("needs high"));
  EXPECT_THAT(refusal("scaling=longrope, original=64, factor=2, short=1 1 1 1"),
              HasSubstr("needs long"));
  EXPECT_THAT(refusal("scaling=longrope, original=64, short=1 1 1 1, long=2 2 2 2"),
              HasSubstr("needs factor, or max"));
}

TEST(RotaryFrequencies, RefuseNumbersThatContradictEachOther) {
  EXPECT_THAT(refusal("scaling=llama3, factor=8, original=64, low=4, high=1"),
              HasSubstr("low=4.000000 must be below high=1.000000"));
  EXPECT_THAT(refusal("scaling=yarn, factor=2, original=8, slow=32, fast=1"),
              HasSubstr("must be below fast"));
  EXPECT_THAT(refusal("scaling=yarn, factor=2, original=8, mscale=1"), HasSubstr("go together"));
  EXPECT_THAT(refusal("scaling=yarn, factor=2, original=8, mscale=1, mscale-all=1, attention=2"),
              HasSubstr("both set the factor"));
  EXPECT_THAT(
      refusal("scaling=longrope, original=64, factor=2, max=256, short=1 1 1 1, long=2 2 2 2"),
      HasSubstr("is not max=256"));
}

TEST(RotaryFrequencies, RefuseNumbersOutOfTheirRange) {
  EXPECT_THAT(refusal("base=0"), HasSubstr("base=0 must be above 0"));
  EXPECT_THAT(refusal("base=x"), HasSubstr("base=x must be a finite number"));
  EXPECT_THAT(refusal("scaling=linear, factor=0.5"), HasSubstr("must be at least 1"));
  EXPECT_THAT(refusal("scaling=lineer, factor=2"), HasSubstr("did you mean 'linear'"));
  EXPECT_THAT(refusal("pairing=half"), HasSubstr("must be one of split-half, interleaved"));
  EXPECT_THAT(refusal("scaling=yarn, factor=2, original=0"), HasSubstr("integer of 1 or more"));
  EXPECT_THAT(refusal("scaling=yarn, factor=2, original=8, truncate=1"), HasSubstr("yes or no"));
  EXPECT_THAT(refusal("", 7), HasSubstr("7 of a head of width 7 must be an even number"));
  EXPECT_THAT(refusal("partial=3"), HasSubstr("must be an even number of at least 2"));
  EXPECT_THAT(refusal("partial=10"), HasSubstr("partial=10 turning columns; a head has 8"));
  EXPECT_THAT(refusal("partial=0"), HasSubstr("must be above 0 and at most 1"));
  EXPECT_THAT(refusal("partial=4.5"), HasSubstr("partial=4.5 must be an integer"));
  EXPECT_THAT(refusal("scaling=ntk, factor=2", 2), HasSubstr("4 turning columns or more"));
  EXPECT_THAT(refusal("scaling=longrope, original=64, factor=2, short=1 1 1, long=2 2 2 2"),
              HasSubstr("short has 3 numbers; it must have one for each of 4 pairs"));
  EXPECT_THAT(refusal("scaling=longrope, original=64, factor=2, short=1 1 1 0, long=2 2 2 2"),
              HasSubstr("short=0.000000 must be a number above 0"));
  EXPECT_THAT(refusal("scaling=longrope, original=64, factor=2, short=1 x, long=2"),
              HasSubstr("short: 'x' is no finite number"));
}

}  // namespace
}  // namespace volvelle
