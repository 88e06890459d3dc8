// NaN and infinity: behind the mask they do not leak; seen, they stay in their own row.
#include <cmath>
#include <limits>

#include "support/expect_routes.h"

namespace volvelle::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool any_nan(const Answer& answer) {
  for (const Tensor* tensor : {&answer.output, &answer.lse, &answer.entropy, &answer.column_sums}) {
    for (std::int64_t n = 0; n < tensor->size(); ++n) {
      if (std::isnan(element_as_double(tensor->view(), n))) return true;
    }
  }
  return false;
}

// Poisons what no query sees; every route must give clean numbers, and the control, which drops
// excluded weights after the softmax, must not.
void expect_no_leak(Recipe recipe) {
  recipe.batch = 2;
  recipe.queries = 37;
  recipe.keys = 150;
  recipe.width = 7;
  recipe.poison = true;
  SCOPED_TRACE(::testing::PrintToString(recipe));
  const Made made = make(recipe);
  expect_oracles_answer(made.problem);
  for (const Route& route : routes()) EXPECT_FALSE(any_nan(answer(made.problem, route)));
  EXPECT_TRUE(any_nan(oracle_answer(made.problem, AttentionFault::mask_after_softmax)));
}

TEST(NonFinite, DoesNotLeakFromTheFuture) {
  Recipe recipe;
  recipe.causal = true;
  recipe.alignment = Alignment::top_left;
  expect_no_leak(recipe);
}

TEST(NonFinite, DoesNotLeakFromOutsideTheWindow) {
  Recipe recipe;
  recipe.window = 5;
  expect_no_leak(recipe);
  recipe.window = 0;
  recipe.window_right = 4;
  recipe.alignment = Alignment::top_left;
  recipe.causal = true;
  expect_no_leak(recipe);
}

TEST(NonFinite, DoesNotLeakFromOtherChunks) {
  Recipe recipe;
  recipe.chunk = 25;
  expect_no_leak(recipe);
}

TEST(NonFinite, DoesNotLeakFromPadding) {
  Recipe recipe;
  recipe.key_lengths = true;
  expect_no_leak(recipe);
  recipe.padding = Padding::left;
  expect_no_leak(recipe);
}

TEST(NonFinite, DoesNotLeakFromOtherSegments) {
  Recipe recipe;
  recipe.segments = 4;
  recipe.key_lengths = true;
  expect_no_leak(recipe);
}

TEST(NonFinite, DoesNotLeakFromTheMask) {
  for (const DType dtype : {DType::boolean, DType::uint8, DType::int64}) {
    Recipe recipe;
    recipe.keep = Span::keys;
    recipe.keep_dtype = dtype;
    expect_no_leak(recipe);
  }
}

TEST(NonFinite, DoesNotLeakFromBiasesOfExcludedPairs) {
  Recipe recipe;
  recipe.keep = Span::plane;
  recipe.bias = Span::full;
  expect_no_leak(recipe);
}

TEST(NonFinite, DoesNotLeakInHalfPrecisionAndDouble) {
  for (const DType dtype : {DType::float64, DType::float16, DType::bfloat16}) {
    Recipe recipe;
    recipe.dtype = dtype;
    recipe.causal = true;
    recipe.alignment = Alignment::top_left;
    recipe.keep = Span::keys;
    expect_no_leak(recipe);
  }
}

// One query made NaN: its row is NaN, all others keep their bits.
TEST(NonFinite, QueryStaysInItsRow) {
  Recipe recipe;
  recipe.queries = 70;
  recipe.keys = 130;
  const Made made = make(recipe);
  for (const std::int64_t bad : {0, 1, 15, 31, 69}) {
    for (const Route& route : routes()) {
      const Answer clean = answer(made.problem, route);
      Tensor q = copy_of(made.problem.q);
      q.data<float>()[bad * 4 + 2] = std::nanf("");
      AttentionProblem problem = made.problem;
      problem.q = q.view();
      const Answer dirty = answer(problem, route);
      for (std::int64_t i = 0; i < 70; ++i) {
        const float lse = dirty.lse.data<float>()[i];
        EXPECT_TRUE(i == bad ? std::isnan(lse) : lse == clean.lse.data<float>()[i])
            << route.name << " row " << i << " bad " << bad;
        for (std::int64_t e = 0; e < 4; ++e) {
          const float value = dirty.output.data<float>()[i * 4 + e];
          EXPECT_TRUE(i == bad ? std::isnan(value)
                               : value == clean.output.data<float>()[i * 4 + e]);
        }
      }
    }
  }
}

// One key made NaN is seen, causally, by the rows from it on.
TEST(NonFinite, KeyReachesTheRowsThatSeeItOnly) {
  Recipe recipe;
  recipe.queries = recipe.keys = 50;
  recipe.causal = true;
  Made made = make(recipe);
  Tensor k = copy_of(made.problem.k);
  k.data<float>()[20 * 4] = std::nanf("");
  made.problem.k = k.view();
  expect_oracles_answer(made.problem);
  for (const Route& route : routes()) {
    const Answer ours = answer(made.problem, route);
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(std::isnan(ours.lse.data<float>()[i]), i >= 20) << route.name << " row " << i;
      EXPECT_EQ(std::isnan(ours.output.data<float>()[i * 4]), i >= 20) << route.name;
      EXPECT_EQ(std::isnan(ours.column_sums.data<float>()[i]), true) << route.name;
    }
  }
}

// Arithmetic at the ends of the range: scores of thousands, a key far ahead of all others.
TEST(NonFinite, LargeScoresDoNotOverflow) {
  Recipe recipe;
  recipe.queries = 9;
  recipe.keys = 20;
  recipe.scale = 300;
  expect_oracles_answer(recipe);
  recipe.scale = -300;
  expect_oracles_answer(recipe);
}

TEST(NonFinite, AScoreOfPlusInfinityMakesItsRowNaN) {
  Recipe recipe;
  recipe.queries = 3;
  recipe.keys = 4;
  Made made = make(recipe);
  std::vector<float> bias(12, 0.0F);
  bias[5] = kInfinity;
  made.problem.bias = View(bias.data(), {3, 4});
  for (const Route& route : routes()) {
    const Answer ours = answer(made.problem, route);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(std::isnan(ours.output.data<float>()[i * 4]), i == 1) << route.name;
    }
  }
}

TEST(NonFinite, ASinkOfMinusInfinityIsNone) {
  Recipe recipe;
  recipe.queries = 5;
  recipe.keys = 3;
  recipe.causal = true;
  Made made = make(recipe);
  const AttentionProblem without = made.problem;
  const float none = -kInfinity;
  made.problem.sinks = View(&none, {1});
  expect_oracles_answer(made.problem);
  for (const Route& route : routes()) {
    EXPECT_EQ(bit_difference(answer(made.problem, route), answer(without, route)), "")
        << route.name;
  }
}

}  // namespace
}  // namespace volvelle::testing
