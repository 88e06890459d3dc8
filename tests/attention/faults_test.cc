// Controls: each known fault changes the answer by more than the tolerance, on a problem that has
// the option, so a path with that fault could not pass the comparisons.
#include <gtest/gtest.h>

#include "support/recipe.h"
#include "support/routes.h"

namespace volvelle::testing {
namespace {

Recipe plain() {
  Recipe recipe;
  recipe.batch = 2;
  recipe.key_heads = 2;
  recipe.group = 2;
  recipe.queries = 9;
  recipe.keys = 9;
  recipe.width = 8;
  recipe.value_width = 8;
  return recipe;
}

void fault_shows(const Recipe& recipe, AttentionFault fault) {
  const Made made = make(recipe);
  const Answer right = oracle_answer(made.problem);
  EXPECT_EQ(difference(made.problem, right, right), "");
  const Answer wrong = oracle_answer(made.problem, fault);
  EXPECT_NE(difference(made.problem, wrong, right), "");
  EXPECT_NE(bit_difference({wrong.output, right.lse, right.entropy, right.column_sums}, right), "")
      << "the output itself must change";
}

TEST(Faults, SoftmaxOverColumnsShows) {
  fault_shows(plain(), AttentionFault::softmax_over_columns);
}

TEST(Faults, StrictDiagonalShows) {
  Recipe recipe = plain();
  recipe.causal = true;
  fault_shows(recipe, AttentionFault::strict_diagonal);
}

TEST(Faults, MaskAfterSoftmaxShows) {
  Recipe recipe = plain();
  recipe.causal = true;
  fault_shows(recipe, AttentionFault::mask_after_softmax);
}

TEST(Faults, MaskInvertedShows) {
  Recipe recipe = plain();
  recipe.keep = Span::plane;
  fault_shows(recipe, AttentionFault::mask_inverted);
}

TEST(Faults, KeyHeadsTiledShows) { fault_shows(plain(), AttentionFault::key_heads_tiled); }

TEST(Faults, CapDroppedShows) {
  Recipe recipe = plain();
  recipe.softcap = 2;
  fault_shows(recipe, AttentionFault::cap_dropped);
}

TEST(Faults, BiasBeforeScalingShows) {
  Recipe recipe = plain();
  recipe.bias = Span::plane;
  fault_shows(recipe, AttentionFault::bias_before_scaling);
}

TEST(Faults, SlopeSignShows) {
  Recipe recipe = plain();
  recipe.slopes = true;
  fault_shows(recipe, AttentionFault::slope_sign);
}

TEST(Faults, SinkDroppedShows) {
  Recipe recipe = plain();
  recipe.sinks = true;
  fault_shows(recipe, AttentionFault::sink_dropped);
}

}  // namespace
}  // namespace volvelle::testing
