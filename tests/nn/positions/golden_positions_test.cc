// Tables and frequencies against the code that models were trained with
// (tests/golden/make_positions.py).
#include <gtest/gtest.h>

#include <cmath>

#include "support/golden_arrays.h"
#include "volvelle/nn/positions/rotary.h"
#include "volvelle/nn/positions/sinusoidal.h"

namespace volvelle {
namespace {

using testing::GoldenArrays;

const GoldenArrays& golden() {
  static const GoldenArrays arrays("positions/positions.npz");
  return arrays;
}

// Each to its own size: the slowest pairs are a millionth of the fastest.
void expect_frequencies(const char* name, const std::string& settings, std::int64_t head_width,
                        std::int64_t length = 0) {
  SCOPED_TRACE(name);
  const Tensor wanted = golden().get(name, DType::float64);
  const std::vector<double> made =
      rotary_frequencies(rotary_options(parse_positions("rotary(" + settings + ")")), head_width,
                         length)
          .frequencies;
  ASSERT_EQ(wanted.size(), static_cast<std::int64_t>(made.size()));
  for (std::size_t i = 0; i < made.size(); ++i) {
    const double right = wanted.data<double>()[i];
    EXPECT_NEAR(made[i], right, 1e-13 * right) << "pair " << i;
  }
}

TEST(GoldenPositions, RotaryScalingsAreTransformers) {
  expect_frequencies("dynamic", "scaling=dynamic, factor=2, original=2048", 64, 3000);
  expect_frequencies("yarn", "base=1e6, scaling=yarn, factor=4, original=32768", 128);
  expect_frequencies("yarn.exact", "scaling=yarn, factor=40, original=4096, truncate=no", 64);
  expect_frequencies("yarn.narrow", "scaling=yarn, factor=4, original=64", 8);
  expect_frequencies("llama3",
                     "base=500000, scaling=llama3, factor=8, low=1, high=4, original=8192", 128);
  expect_frequencies("proportional", "base=1e6, scaling=proportional, partial=0.25, factor=2", 64);
}

TEST(GoldenPositions, SinusoidsAreFairseqsAndMarians) {
  for (const std::int64_t width : {8, 9}) {
    const Tensor fairseq = sinusoidal_table(
        12, width, {.layout = SinusoidalLayout::concatenated, .kind = SinusoidalKind::fairseq},
        DType::float64);
    EXPECT_EQ(golden().difference("fairseq." + std::to_string(width), fairseq.view()), "");
    const Tensor marian =
        sinusoidal_table(12, width, {.layout = SinusoidalLayout::concatenated}, DType::float64);
    EXPECT_EQ(golden().difference("marian." + std::to_string(width), marian.view()), "");
  }
}

TEST(GoldenPositions, XposFadesAsTorchscales) {
  const Tensor wanted = golden().get("xpos", DType::float64);
  AttendVariableOptions attention;
  make_positions("xpos", {.width = 32, .heads = 2})->enter(attention, {.positions = 40});
  const float* const cosines = attention.rotary.cosines.data<float>();
  const float* const sines = attention.rotary.sines.data<float>();
  for (std::int64_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(std::hypot(cosines[i], sines[i]), wanted.data<double>()[i], 1e-6);
  }
}

}  // namespace
}  // namespace volvelle
