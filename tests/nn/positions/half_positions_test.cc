#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "volvelle/base/half.h"
#include "volvelle/nn/positions/catalog.h"
#include "volvelle/nn/positions/sinusoidal.h"

// What goes wrong when positions are held in the type of a half-precision model: bfloat16 has 8
// significant bits and float16 has 11, so from 256 and 2048 on neighbours fall together. Here
// positions are integers and angles double, whatever the model computes in.
namespace volvelle {
namespace {

bool same_rows(const Tensor& table, std::int64_t a, std::int64_t b) {
  const std::int64_t width = table.shape()[table.rank() - 1];
  const float* rows = table.data<float>();
  return std::memcmp(rows + a * width, rows + b * width,
                     sizeof(float) * static_cast<std::size_t>(width)) == 0;
}

TEST(HalfPositions, FallTogetherWhereTheTypeRunsOutOfBits) {
  const auto brain = [](double p) { return to_float(to_bfloat16(p)); };
  const auto ieee = [](double p) { return to_float(to_float16(p)); };
  EXPECT_NE(brain(255), brain(256));
  EXPECT_EQ(brain(256), brain(257));
  EXPECT_NE(ieee(2047), ieee(2048));
  EXPECT_EQ(ieee(2048), ieee(2049));
}

TEST(HalfPositions, DoNotHappenToTheTablesOfSchemes) {
  const PositionContext model{.width = 64, .heads = 4};
  AttendVariableOptions options;
  make_positions("rotary", model)->enter(options, {.positions = 2050});
  for (const Tensor& table :
       {options.rotary.cosines, options.rotary.sines, sinusoidal_table(2050, 64)}) {
    EXPECT_EQ(table.dtype(), DType::float32);
    EXPECT_FALSE(same_rows(table, 256, 257));
    EXPECT_FALSE(same_rows(table, 2048, 2049));
  }
}

TEST(HalfPositions, DoNotHappenToTokensInBfloat16) {
  const auto scheme = make_positions("sinusoidal", {.width = 64, .heads = 4});
  const std::int64_t positions[] = {256, 257, 2048, 2049};
  const Variable x(Tensor::zeros(DType::bfloat16, {4, 64}));
  const Tensor y = converted(scheme->add_to_tokens(x, View(positions, {4})).view(), DType::float32);
  EXPECT_FALSE(same_rows(y, 0, 1));
  EXPECT_FALSE(same_rows(y, 2, 3));
}

}  // namespace
}  // namespace volvelle
