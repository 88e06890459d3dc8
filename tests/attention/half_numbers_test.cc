// bfloat16 and float16: whatever multiplies them, numbers at the ends of the range behave as in
// float32, and what is odd about one token moves no bit of a row that does not see it.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "support/expect_routes.h"
#include "volvelle/attention/simd.h"

namespace volvelle::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Recipe recipe_of(DType dtype, std::int64_t length, std::int64_t width) {
  Recipe recipe;
  recipe.dtype = dtype;
  recipe.queries = recipe.keys = length;
  recipe.width = recipe.value_width = width;
  return recipe;
}

Tensor changed(const View& view, std::int64_t row, double value) {
  Tensor copy = copy_of(view);
  set_element(copy.raw(), view.dtype(), row * view.shape()[3] + 1, value);
  return copy;
}

// Rows [first, last) of the output, of a problem of one batch row and head.
std::vector<double> rows_of(const Answer& answer, std::int64_t first, std::int64_t last) {
  const std::vector<double> all = values_of(answer.output.view());
  const auto width = answer.output.shape()[3];
  return {all.begin() + first * width, all.begin() + last * width};
}

TEST(HalfNumbers, WidthsAndLengthsOfEveryKind) {
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    for (const std::int64_t width : {1, 2, 5, 20, 31, 32, 33, 64, 80, 96, 192}) {
      Recipe recipe = recipe_of(dtype, 40, width);
      recipe.value_width = width % 7 + 1;
      expect_oracles_answer(recipe);
      std::swap(recipe.width, recipe.value_width);
      recipe.causal = true;
      expect_oracles_answer(recipe);
    }
    for (const std::int64_t length : {1, 15, 16, 17, 31, 33, 127, 128, 129, 160, 300}) {
      Recipe recipe = recipe_of(dtype, length, 32);
      expect_oracles_answer(recipe);
      recipe.causal = true;
      expect_oracles_answer(recipe);
      recipe.window = 7;
      expect_oracles_answer(recipe);
    }
  }
}

TEST(HalfNumbers, EveryLayoutIsReadWhereItLies) {
  for (const Layout layout :
       {Layout::contiguous, Layout::bthd, Layout::fused, Layout::reversed, Layout::gapped}) {
    for (const std::int64_t width : {32, 20}) {
      Recipe recipe = recipe_of(DType::bfloat16, 140, width);
      recipe.layout = layout;
      recipe.group = 2;
      expect_oracles_answer(recipe);
    }
  }
}

TEST(HalfNumbers, EveryOptionAtOnce) {
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    Recipe recipe = recipe_of(dtype, 200, 64);
    recipe.softcap = 3;
    recipe.bias = Span::plane;
    recipe.slopes = recipe.sinks = recipe.causal = true;
    recipe.table_reach = 9;
    recipe.segments = 2;
    recipe.keep = Span::full;
    expect_oracles_answer(recipe);
    recipe.poison = true;
    expect_oracles_answer(recipe);
  }
}

// Only bfloat16 is multiplied as pairs, and where it is said to be it is.
TEST(HalfNumbers, OnlyBFloat16TakesAnotherWay) {
  const std::vector<std::string> targets = simd_targets();
  const auto bits_differ = [](DType dtype, const std::string& simd) {
    const Made made = make(recipe_of(dtype, 150, 64));
    const Answer plain = answer(made.problem, {"avx3", AttentionPath::fused, "avx3"});
    const Answer other = answer(made.problem, {simd, AttentionPath::fused, simd});
    return bit_difference(plain, other) != "";
  };
  for (const std::string& simd : targets) {
    if (simd != "avx3_amx" && simd != "avx3_bf16") continue;
    EXPECT_TRUE(bits_differ(DType::bfloat16, simd)) << simd;
    EXPECT_FALSE(bits_differ(DType::float16, simd)) << simd;
    EXPECT_FALSE(bits_differ(DType::float32, simd)) << simd;
    EXPECT_FALSE(bits_differ(DType::float64, simd)) << simd;
  }
}

// q subnormal, k so large that the product counts.
TEST(HalfNumbers, SubnormalQueriesAndKeysCount) {
  const Tensor small = listed(DType::bfloat16, {2, 2}, {0x1p-127, 0x1p-128, 0x1p-127, 0x1p-130});
  const Tensor large = listed(DType::bfloat16, {2, 2}, {0x1p121, 0, 0x1p121, 0x1p122});
  const Tensor v = listed(DType::bfloat16, {2, 1}, {1, 2});
  for (const bool swapped : {false, true}) {
    AttentionProblem p{.q = swapped ? large.view() : small.view(),
                       .k = swapped ? small.view() : large.view(),
                       .v = v.view(),
                       .scale = 4.0};
    expect_oracles_answer(p);
    const Answer right = oracle_answer(p);
    p.scale = 0;
    EXPECT_NE(difference(p, oracle_answer(p), right), "") << "control: the products matter";
  }
}

// The scale lifts products that float32 could hold by far only after it.
TEST(HalfNumbers, AScaleBeyondTheRangeOfProducts) {
  for (const double exponent : {-60.0, 60.0}) {
    const double size = std::exp2(exponent);
    const Tensor q = listed(DType::bfloat16, {2, 2}, {size, -size, size / 2, size});
    const Tensor v = listed(DType::bfloat16, {2, 1}, {1, 2});
    for (const double score : {1.0, 40.0}) {
      AttentionProblem p{.q = q.view(), .k = q.view(), .v = v.view(), .scale = score / size / size};
      expect_oracles_answer(p);
    }
  }
}

TEST(HalfNumbers, SubnormalValuesAreWeighed) {
  const Tensor q = listed(DType::bfloat16, {1, 1}, {0});
  const Tensor k = listed(DType::bfloat16, {2, 1}, {1, 2});
  const Tensor v = listed(DType::bfloat16, {2, 2}, {0x1p-130, 0x1p-120, 0x1p-129, 0x1p-119});
  const AttentionProblem p{.q = q.view(), .k = k.view(), .v = v.view()};
  for (const Route& route : routes()) {
    const std::vector<double> ours = values_of(answer(p, route).output.view());
    EXPECT_EQ(ours[0], 0x1.8p-130) << route.name;
    EXPECT_EQ(ours[1], 0x1.8p-120) << route.name;
  }
}

// A weight far below 1 times a small value, all of the row's output.
TEST(HalfNumbers, SmallWeightsOfSmallValuesAreNotLost) {
  const Tensor q = listed(DType::bfloat16, {1, 1}, {1});
  const Tensor k = listed(DType::bfloat16, {2, 1}, {0, -32});
  for (const double value : {0x1p-50, 0x1p-80}) {
    const Tensor v = listed(DType::bfloat16, {2, 1}, {0, value});
    const AttentionProblem p{.q = q.view(), .k = k.view(), .v = v.view(), .scale = 1.0};
    const double right = value * std::exp(-32.0);
    for (const Route& route : routes()) {
      EXPECT_NEAR(values_of(answer(p, route).output.view())[0] / right, 1, 0.01) << route.name;
    }
  }
}

// huggingface/transformers#35151, in half precision and to the bit, for keys and for values.
TEST(HalfNumbers, AnOddFutureTokenMovesNoBitOfEarlierRows) {
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    const double large = dtype == DType::bfloat16 ? 3e38 : 65504;
    for (const std::int64_t length : {40, 200}) {
      Recipe recipe = recipe_of(dtype, length, 32);
      recipe.causal = true;
      const Made made = make(recipe);
      const std::int64_t odd = length - 10;
      for (const double value : {large, kInfinity, std::nan(""), 0x1p-24 * 0x1p-109}) {
        for (const bool of_key : {true, false}) {
          AttentionProblem p = made.problem;
          const Tensor moved = changed(of_key ? p.k : p.v, odd, value);
          (of_key ? p.k : p.v) = moved.view();
          for (const Route& route : routes()) {
            const Answer right = answer(made.problem, route);
            const Answer ours = answer(p, route);
            EXPECT_EQ(rows_of(ours, 0, odd), rows_of(right, 0, odd)) << route.name << ' ' << value;
            if (value == large) {
              EXPECT_NE(rows_of(ours, odd, length), rows_of(right, odd, length))
                  << route.name << " control: later rows must move";
            }
          }
          if (std::fabs(value) < 1) expect_oracles_answer(p);
        }
      }
    }
  }
}

TEST(HalfNumbers, AnOddQueryMovesNoBitOfItsNeighbours) {
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    const Made made = make(recipe_of(dtype, 40, 32));
    for (const double value : {kInfinity, std::nan(""), 1e4, 0x1p-133}) {
      AttentionProblem p = made.problem;
      const Tensor moved =
          changed(p.q, 20, dtype == DType::bfloat16 && value == 1e4 ? 1e30 : value);
      p.q = moved.view();
      for (const Route& route : routes()) {
        const Answer right = answer(made.problem, route);
        const Answer ours = answer(p, route);
        EXPECT_EQ(rows_of(ours, 0, 20), rows_of(right, 0, 20)) << route.name;
        EXPECT_EQ(rows_of(ours, 21, 40), rows_of(right, 21, 40)) << route.name;
      }
      if (std::fabs(value) < 1) expect_oracles_answer(p);
    }
  }
}

// Trap 6: the sum of two lowest numbers of float16 is an ordinary bias in float32.
TEST(HalfNumbers, SaturatedBiasesAddUpInFloat32) {
  const Tensor q = Tensor::zeros(DType::float16, {1, 3});
  const Tensor k = Tensor::zeros(DType::float16, {3, 3});
  const Tensor v = listed(DType::float16, {3, 1}, {1, 2, 6});
  const Tensor bias = filled(DType::float16, {1, 3}, [] { return -65504.0; });
  AttentionProblem p{.q = q.view(), .k = k.view(), .v = v.view()};
  p.bias = bias.view();
  for (const Route& route : routes()) {
    const Answer ours = answer(p, route);
    EXPECT_EQ(element_as_double(ours.output.view(), 0), 3) << route.name;
    EXPECT_NEAR(element_as_double(ours.lse.view(), 0), std::log(3.0) - 65504, 0.01) << route.name;
  }
}

}  // namespace
}  // namespace volvelle::testing
