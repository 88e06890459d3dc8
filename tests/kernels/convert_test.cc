#include "kernels/convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "volvelle/attention/simd.h"
#include "volvelle/tensor/dtype.h"

namespace volvelle {
namespace {

class Convert : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { set_simd_target(GetParam()); }
  void TearDown() override { set_simd_target("best"); }
};

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST_P(Convert, EveryHalfWidensAndComesBack) {
  const kernels::ConvertKernels& kernels = kernels::convert_kernels();
  std::vector<std::uint16_t> halves(65536), back(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  std::vector<float> wide(65536);
  kernels.widen_float16(halves.data(), 65536, wide.data());
  kernels.narrow_float16(wide.data(), 65536, back.data());
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const float wanted = to_float(Float16{halves[i]});
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(wide[i]) && std::isnan(to_float(Float16{back[i]}))) << i;
    } else {
      ASSERT_EQ(bits(wide[i]), bits(wanted)) << i;
      ASSERT_EQ(back[i], halves[i]);
    }
  }
  kernels.widen_bfloat16(halves.data(), 65536, wide.data());
  kernels.narrow_bfloat16(wide.data(), 65536, back.data());
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const float wanted = to_float(BFloat16{halves[i]});
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(wide[i]) && std::isnan(to_float(BFloat16{back[i]}))) << i;
    } else {
      ASSERT_EQ(bits(wide[i]), bits(wanted)) << i;
      ASSERT_EQ(back[i], halves[i]);
    }
  }
}

TEST_P(Convert, NarrowingRoundsToNearestEven) {
  const kernels::ConvertKernels& kernels = kernels::convert_kernels();
  // Between each pair of neighbouring halves: a quarter, the middle, three quarters of the way.
  std::vector<float> values;
  for (std::uint32_t i = 0; i < 0x7C00; ++i) {
    const double low = to_float(Float16{static_cast<std::uint16_t>(i)});
    const double high =
        i + 1 == 0x7C00 ? 65536.0 : to_float(Float16{static_cast<std::uint16_t>(i + 1)});
    for (const double part : {0.25, 0.5, 0.75}) {
      values.push_back(static_cast<float>(low + part * (high - low)));
      values.push_back(-values.back());
    }
  }
  std::vector<std::uint16_t> narrow(values.size());
  kernels.narrow_float16(values.data(), static_cast<std::int64_t>(values.size()), narrow.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t low = static_cast<std::uint32_t>(i / 6);
    const int part = static_cast<int>(i / 2 % 3);
    const std::uint32_t up = part == 0 ? 0 : part == 2 ? 1 : low % 2;
    const std::uint32_t sign = i % 2 == 1 ? 0x8000u : 0u;
    ASSERT_EQ(narrow[i], (low + up) | sign) << values[i];
    ASSERT_EQ(narrow[i], to_float16(values[i]).bits);
  }
  const std::vector<float> brain{1.00390625f, 1.01171875f, 3.3961776e38f, 1e-40f, -0.0f};
  narrow.resize(brain.size());
  kernels.narrow_bfloat16(brain.data(), static_cast<std::int64_t>(brain.size()), narrow.data());
  EXPECT_EQ(narrow[0], 0x3F80);  // ties to even: down
  EXPECT_EQ(narrow[1], 0x3F82);  // ties to even: up
  EXPECT_EQ(narrow[2], 0x7F80);  // beyond the largest: infinity
  EXPECT_EQ(narrow[4], 0x8000);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Convert, testing::ValuesIn(simd_targets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace volvelle
