#include "volvelle/tensor/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace volvelle {
namespace {

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST(DType, NamesSizesAndKinds) {
  EXPECT_EQ(size_of(DType::bfloat16), 2u);
  EXPECT_EQ(size_of(DType::float64), 8u);
  EXPECT_EQ(size_of(DType::boolean), 1u);
  EXPECT_EQ(name_of(DType::float16), "float16");
  EXPECT_EQ(name_of(DType::boolean), "bool");
  EXPECT_EQ(name_of(DType::uint64), "uint64");
  EXPECT_TRUE(is_floating(DType::bfloat16));
  EXPECT_FALSE(is_floating(DType::int8));
  EXPECT_TRUE(is_integer(DType::uint32));
  EXPECT_FALSE(is_integer(DType::boolean));
  EXPECT_FALSE(is_integer(DType::float64));
}

TEST(DType, EveryHalfSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float wide16 = to_float(Float16{half});
    const float wide_b = to_float(BFloat16{half});
    if (std::isnan(wide16)) {
      EXPECT_TRUE(std::isnan(to_float(to_float16(wide16))));
    } else {
      EXPECT_EQ(to_float16(wide16).bits, half);
      EXPECT_EQ(to_float16(static_cast<double>(wide16)).bits, half);
    }
    if (std::isnan(wide_b)) {
      EXPECT_TRUE(std::isnan(to_float(to_bfloat16(wide_b))));
    } else {
      EXPECT_EQ(to_bfloat16(wide_b).bits, half);
      EXPECT_EQ(to_bfloat16(static_cast<double>(wide_b)).bits, half);
    }
  }
}

// Between two neighbours: below the middle down, above it up, on it to the even one.
template <class Half, class Narrow>
void expect_nearest(Narrow narrow, std::uint16_t last) {
  for (std::uint16_t bits = 0; bits < last; ++bits) {
    const double low = static_cast<double>(to_float(Half{bits}));
    const double high = static_cast<double>(to_float(Half{static_cast<std::uint16_t>(bits + 1)}));
    const double middle = (low + high) / 2;
    const std::uint16_t even = bits % 2 == 0 ? bits : static_cast<std::uint16_t>(bits + 1);
    EXPECT_EQ(narrow(middle).bits, even);
    EXPECT_EQ(narrow(std::nextafter(middle, 0.0)).bits, bits);
    EXPECT_EQ(narrow(std::nextafter(middle, 1e300)).bits, bits + 1);
    EXPECT_EQ(narrow(-middle).bits, even | 0x8000);
    EXPECT_EQ(narrow(static_cast<float>(middle)).bits, even);
  }
}

TEST(DType, NarrowingIsToTheNearestInOneRounding) {
  expect_nearest<Float16>([](auto value) { return to_float16(value); }, 0x7BFF);
  expect_nearest<BFloat16>([](auto value) { return to_bfloat16(value); }, 0x7F7F);
}

TEST(DType, OverflowBecomesInfinity) {
  EXPECT_EQ(to_float16(65504.0F).bits, 0x7BFF);
  EXPECT_EQ(to_float16(65519.99F).bits, 0x7BFF);
  EXPECT_EQ(to_float16(65520.0F).bits, 0x7C00);
  EXPECT_EQ(to_float16(-1e300).bits, 0xFC00);
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()).bits, 0x7F80);
  EXPECT_EQ(to_bfloat16(-1e300).bits, 0xFF80);
}

TEST(DType, NaNStaysNaNWithItsSign) {
  const float signalling = std::bit_cast<float>(0x7F800001U);
  EXPECT_TRUE(std::isnan(to_float(to_float16(signalling))));
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(signalling))));
  EXPECT_TRUE(std::isnan(to_float(to_float16(std::nan("")))));
  EXPECT_EQ(bits_of(to_float(to_bfloat16(-std::nanf("")))) >> 31, 1u);
}

}  // namespace
}  // namespace volvelle
