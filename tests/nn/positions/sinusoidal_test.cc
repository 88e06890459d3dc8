#include "volvelle/nn/positions/sinusoidal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "volvelle/base/error.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;

constexpr SinusoidalOptions kConcatenated{.layout = SinusoidalLayout::concatenated};
constexpr SinusoidalOptions kFairseq{.layout = SinusoidalLayout::concatenated,
                                     .kind = SinusoidalKind::fairseq};

double at(const Tensor& table, std::int64_t row, std::int64_t column) {
  return element_as_double(table.view(), row * table.shape()[1] + column);
}

TEST(Sinusoidal, RowsAreThoseOfTheDocument) {
  const Tensor table = sinusoidal_table(2, 16);
  const double first[] = {0.8415, 0.5403, 0.311, 0.9504, 0.0998, 0.995};
  for (int i = 0; i < 16; ++i) EXPECT_EQ(at(table, 0, i), i % 2);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(at(table, 1, i), first[i], 5e-5);
}

TEST(Sinusoidal, WavelengthsStopShortOfBaseTurns) {
  const double wavelengths[] = {6.3, 19.9, 62.8, 198.7, 628.3, 1986.9, 6283.2, 19869.2};
  const std::vector<double> frequencies = sinusoidal_frequencies(16);
  ASSERT_EQ(frequencies.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(2 * std::numbers::pi / frequencies[i], wavelengths[i], 0.05);
  }
}

TEST(Sinusoidal, AFixedPermutationOfColumnsTurnsOneLayoutIntoTheOther) {
  for (const std::int64_t width : {8, 9}) {
    const Tensor side_by_side = sinusoidal_table(40, width);
    const Tensor sines_first = sinusoidal_table(40, width, kConcatenated);
    const std::int64_t sines = (width + 1) / 2;
    for (std::int64_t row = 0; row < 40; ++row) {
      for (std::int64_t i = 0; i < width; ++i) {
        EXPECT_EQ(at(side_by_side, row, i), at(sines_first, row, i % 2 * sines + i / 2));
      }
    }
  }
}

TEST(Sinusoidal, OddWidthsEndAsTheirKindSays) {
  const std::vector<double> frequencies = sinusoidal_frequencies(5);
  ASSERT_EQ(frequencies.size(), 3U);  // the last has a sine and no cosine
  EXPECT_NEAR(at(sinusoidal_table(3, 5), 2, 4), std::sin(2 * std::pow(10000, -0.8)), 1e-9);
  EXPECT_NEAR(at(sinusoidal_table(3, 5, kConcatenated), 2, 2), std::sin(2 * std::pow(10000, -0.8)),
              1e-9);
  const Tensor fairseq = sinusoidal_table(3, 5, kFairseq);
  ASSERT_EQ(sinusoidal_frequencies(5, kFairseq), (std::vector<double>{1, 1e-4}));
  EXPECT_EQ(at(fairseq, 2, 4), 0);
  EXPECT_NEAR(at(fairseq, 2, 3), std::cos(2e-4), 1e-7);
  EXPECT_EQ(at(sinusoidal_table(3, 1), 2, 0), static_cast<float>(std::sin(2.0)));
}

TEST(Sinusoidal, OffsetCountsPositionsFromFurtherOn) {
  SinusoidalOptions two = kFairseq;
  two.offset = 2;
  const Tensor shifted = sinusoidal_table(4, 8, two);
  const Tensor plain = sinusoidal_table(6, 8, kFairseq);
  for (std::int64_t i = 0; i < 4 * 8; ++i) {
    EXPECT_EQ(shifted.data<float>()[i], plain.data<float>()[i + 16]);
  }
  const Tensor late = sinusoidal_table(1, 8, kFairseq, DType::float32, 5);
  for (std::int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(late.data<float>()[i], plain.data<float>()[40 + i]);
}

TEST(Sinusoidal, AddsTheRowOfEachPositionToTokens) {
  const auto scheme = make_positions("sinusoidal", {.width = 6, .heads = 2});
  // The last of them is beyond what tables hold.
  const std::int32_t places[] = {0, 70, 3, 3, 200000, 1};
  const Tensor table = sinusoidal_table(200001, 6);
  for (const std::int64_t tokens : {4, 6}) {
    Tensor x = Tensor::zeros(DType::float32, {1, tokens, 6});
    x.data<float>()[7] = 3;
    const Tensor y = scheme->add_to_tokens(Variable(x), View(places, {tokens})).value();
    for (std::int64_t i = 0; i < 6 * tokens; ++i) {
      const float row = table.data<float>()[places[i / 6] * 6 + i % 6];
      EXPECT_EQ(y.data<float>()[i], (i == 7 ? 3.0F : 0.0F) + row);
    }
  }
  // A model in double adds the same numbers.
  const Variable x(Tensor::zeros(DType::float64, {1, 2, 6}));
  const Tensor y = scheme->add_to_tokens(x, View(places, {1, 2})).value();
  EXPECT_EQ(y.data<double>()[6], table.data<float>()[70 * 6]);
}

TEST(Sinusoidal, TakesItsSettings) {
  const std::int64_t three[] = {3};
  const auto row = [&](const char* text) {
    const auto scheme = make_positions(text, {.width = 8, .heads = 2});
    const Variable x(Tensor::zeros(DType::float32, {1, 8}));
    return scheme->add_to_tokens(x, View(three, {1})).value();
  };
  const Tensor fairseq = row("sinusoidal(kind=fairseq, offset=2)");
  const Tensor fourth = sinusoidal_table(6, 8, kFairseq);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(at(fairseq, 0, i), at(fourth, 5, i));
  const Tensor other = row("sinusoidal(base=100, layout=concatenated)");
  EXPECT_EQ(at(other, 0, 1), static_cast<float>(std::sin(3 * std::pow(100, -0.25))));
}

TEST(Sinusoidal, RefusesWhatHasNoTable) {
  const auto said = [](auto call) -> std::string {
    try {
      call();
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "(nothing was refused)";
  };
  EXPECT_THAT(said([] { sinusoidal_table(1, 0); }), HasSubstr("[sinusoidal] width 0"));
  EXPECT_THAT(said([] { sinusoidal_table(1, 3, kFairseq); }), HasSubstr("at least 4"));
  EXPECT_THAT(said([] { sinusoidal_table(-1, 4); }), HasSubstr("rows -1"));
  EXPECT_THAT(said([] { sinusoidal_table(1, 4, {.base = 0}); }), HasSubstr("base 0"));
  EXPECT_THAT(said([] { sinusoidal_table(1, 4, {.offset = -1}); }), HasSubstr("offset -1"));
  EXPECT_THAT(said([] { sinusoidal_table(1, 4, {}, DType::float16); }), HasSubstr("not float16"));
  const auto scheme = make_positions("sinusoidal", {});
  const Variable x(Tensor::zeros(DType::float32, {2, 64}));
  const std::int64_t negative[] = {0, -1};
  EXPECT_THAT(said([&] { scheme->add_to_tokens(x, View(negative, {2})); }),
              HasSubstr("[sinusoidal] position -1 at (1,) is negative"));
  const float fractions[] = {0, 1};
  EXPECT_THAT(said([&] { scheme->add_to_tokens(x, View(fractions, {2})); }),
              HasSubstr("they must be integers"));
}

}  // namespace
}  // namespace volvelle
