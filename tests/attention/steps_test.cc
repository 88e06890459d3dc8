// The kept steps: that they are the composed path's, and follow from each other.
#include "volvelle/attention/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "attention/composed.h"
#include "support/recipe.h"
#include "support/routes.h"
#include "volvelle/base/error.h"

namespace volvelle::testing {
namespace {

Recipe everything() {
  Recipe recipe;
  recipe.batch = 2;
  recipe.key_heads = 2;
  recipe.group = 2;
  recipe.queries = 6;
  recipe.keys = 9;
  recipe.softcap = 3;
  recipe.scale = 0.7;
  recipe.bias = Span::plane;
  recipe.slopes = true;
  recipe.sinks = true;
  recipe.causal = true;
  recipe.keep = Span::full;
  return recipe;
}

TEST(Steps, EndInTheComposedAnswer) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    Recipe recipe = everything();
    recipe.dtype = dtype;
    const Made made = make(recipe);
    const AttentionSteps steps = attention_steps(made.problem);
    const Answer right = answer(made.problem, {"composed", AttentionPath::composed, {}});
    EXPECT_EQ(bit_difference({steps.output, steps.lse, steps.entropy, steps.column_sums}, right),
              "");
    EXPECT_EQ(steps.scores.dtype(), dtype);
  }
}

TEST(Steps, DroppedWeightsAreNothingOrGrown) {
  Recipe recipe = everything();
  EXPECT_FALSE(attention_steps(make(recipe).problem).dropped);
  recipe.dropout = 0.5;
  const Made made = make(recipe);
  const AttentionSteps steps = attention_steps(made.problem);
  const Answer right = answer(made.problem, {"composed", AttentionPath::composed, {}});
  EXPECT_EQ(bit_difference({steps.output, steps.lse, steps.entropy, steps.column_sums}, right), "");
  int dropped = 0, kept = 0;
  for (std::int64_t n = 0; n < steps.weights.size(); ++n) {
    const float before = steps.weights.data<float>()[n];
    const float after = steps.dropped.data<float>()[n];
    if (before == 0) continue;
    (after == 0 ? dropped : kept) += 1;
    EXPECT_TRUE(after == 0 || after == 2 * before) << n;
  }
  EXPECT_GT(dropped, 0);
  EXPECT_GT(kept, 0);
}

TEST(Steps, OfHalfPrecisionAreFloat32) {
  Recipe recipe = everything();
  recipe.dtype = DType::bfloat16;
  const AttentionSteps steps = attention_steps(make(recipe).problem);
  EXPECT_EQ(steps.scores.dtype(), DType::float32);
  EXPECT_EQ(steps.output.dtype(), DType::float32);
}

TEST(Steps, FollowFromEachOther) {
  Recipe recipe = everything();
  recipe.dtype = DType::float64;
  recipe.slopes = false;
  const Made made = make(recipe);
  const AttentionSteps s = attention_steps(made.problem);
  const std::vector<double> bias = values_of(made.problem.bias);
  const std::vector<double> sinks = values_of(made.problem.sinks);
  for (std::int64_t row = 0; row < 2 * 4 * 6; ++row) {
    double sum = 0;
    for (std::int64_t j = 0; j < 9; ++j) {
      const std::int64_t n = row * 9 + j;
      const auto at = [n](const Tensor& tensor) { return tensor.data<double>()[n]; };
      EXPECT_DOUBLE_EQ(at(s.scaled), 0.7 * at(s.scores));
      EXPECT_DOUBLE_EQ(at(s.capped), 3 * std::tanh(at(s.scaled) / 3));
      EXPECT_DOUBLE_EQ(at(s.biased), at(s.capped) + bias[static_cast<std::size_t>(n % 54)]);
      if (s.excluded.data<bool>()[n]) {
        EXPECT_EQ(at(s.exponentials), 0);
        EXPECT_EQ(at(s.weights), 0);
        EXPECT_EQ(at(s.weights_unscaled), 0);
      } else {
        EXPECT_NEAR(at(s.weights), std::exp(at(s.biased) - s.lse.data<double>()[row]), 1e-14);
      }
      sum += at(s.weights);
    }
    EXPECT_NEAR(s.row_sums.data<double>()[row], sum, 1e-14);
    if (std::isfinite(s.lse.data<double>()[row])) {
      const double of_sink =
          std::exp(sinks[static_cast<std::size_t>(row / 6 % 4)] - s.lse.data<double>()[row]);
      EXPECT_NEAR(sum + of_sink, 1, 1e-14);
    }
  }
}

TEST(Steps, WeightsUnscaledAreThoseOfScaleOne) {
  const Made made = make(everything());
  AttentionProblem unscaled = made.problem;
  unscaled.scale = 1.0;
  const AttentionSteps a = attention_steps(made.problem);
  const AttentionSteps b = attention_steps(unscaled);
  EXPECT_EQ(values_of(a.weights_unscaled.view()), values_of(b.weights.view()));
  EXPECT_NE(values_of(a.weights_unscaled.view()), values_of(a.weights.view()));
}

TEST(Steps, ThatAProblemLacksAreAbsent) {
  const AttentionSteps steps = attention_steps(make(Recipe{}).problem);
  EXPECT_FALSE(steps.capped);
  EXPECT_FALSE(steps.biased);
  EXPECT_FALSE(steps.excluded);
  EXPECT_TRUE(steps.weights_unscaled);
}

TEST(Steps, BeyondTheLimitNameTheirSize) {
  const Made made = make(everything());
  // 7 matrices of 4 bytes and one of 1 over 2 * 4 * 6 * 9 pairs.
  EXPECT_NO_THROW(attention_steps(made.problem, 432 * 29));
  try {
    attention_steps(made.problem, 432 * 29 - 1);
    FAIL() << "no throw";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith("[attention_steps] "));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("(2,4,6,9) takes 12528 bytes"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("raise the limit"));
  }
}

TEST(Composed, RefusesAMatrixBeyondItsLimit) {
  const Made made = make(everything());
  const ResolvedAttention resolved = resolve(made.problem);
  EXPECT_NO_THROW(attend_composed(resolved, {}, 1));
  EXPECT_THROW(attend_composed(resolved, {}, 1, 100), InvalidArgument);
}

TEST(Composed, RunsFewerHeadsAtOnceToStayWithinItsLimit) {
  const Made made = make(everything());
  const ResolvedAttention resolved = resolve(made.problem);
  std::size_t limit = 64;
  const auto runs = [&] {
    try {
      attend_composed(resolved, {}, 8, limit);
      return true;
    } catch (const InvalidArgument&) {
      return false;
    }
  };
  while (!runs()) limit += 64;
  EXPECT_GT(limit, std::size_t{6 * 9 * 5});
}

TEST(OracleRows, AreTheOraclesRows) {
  Recipe recipe = everything();
  recipe.dtype = DType::float64;
  const Made made = make(recipe);
  const Answer whole = oracle_answer(made.problem);
  const QueryRow rows[] = {{0, 0, 0}, {1, 3, 5}, {1, 0, 2}};
  double output[12], lse[3], entropy[3];
  attend_oracle_rows(resolve(made.problem), rows, output, lse, entropy);
  for (int n = 0; n < 3; ++n) {
    const std::int64_t row = (rows[n].batch * 4 + rows[n].head) * 6 + rows[n].query;
    EXPECT_EQ(lse[n], whole.lse.data<double>()[row]);
    EXPECT_EQ(entropy[n], whole.entropy.data<double>()[row]);
    for (int e = 0; e < 4; ++e) {
      EXPECT_EQ(output[n * 4 + e], whole.output.data<double>()[row * 4 + e]);
    }
  }
}

}  // namespace
}  // namespace volvelle::testing
