// Biases by offset where their ways through the fused kernels meet: tiles with the diagonal laid
// out for them, positions too far apart for that, and positions that do not run on within a tile.
#include <gtest/gtest.h>

#include "support/gradients.h"

namespace volvelle::testing {
namespace {

void expect_oracles(const AttentionProblem& problem, const View& grad_output) {
  const Answer right = oracle_answer(problem);
  for (const Route& route : routes()) {
    EXPECT_EQ(difference(problem, answer(problem, route, 2), right), "") << route.name;
  }
  const Gradients right_back = oracle_gradients(problem, grad_output);
  for (const Route& route : gradient_routes()) {
    EXPECT_EQ(gradient_difference(problem, grad_output, gradients(problem, grad_output, route, 2),
                                  right_back),
              "")
        << route.name;
  }
}

Recipe long_recipe(DType dtype) {
  Recipe recipe;
  recipe.dtype = dtype;
  recipe.key_heads = 1;
  recipe.group = 2;
  recipe.queries = 70;
  recipe.keys = 150;
  recipe.width = 8;
  recipe.value_width = 5;
  return recipe;
}

TEST(OffsetBias, TablesThatEndAroundPanelsAndTiles) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    for (const std::int64_t reach : {0, 1, 31, 128, 200}) {
      Recipe recipe = long_recipe(dtype);
      recipe.seed = static_cast<std::uint64_t>(reach);
      recipe.table_reach = reach;
      recipe.slopes = reach % 2 == 1;
      recipe.causal = reach != 31;
      recipe.buckets = reach == 128 ? Buckets::two_way : Buckets::none;
      recipe.softcap = reach == 200 ? 2 : 0;
      SCOPED_TRACE(::testing::PrintToString(recipe));
      const Made made = make(recipe);
      expect_oracles(made.problem, made.grad_output);
    }
  }
}

TEST(OffsetBias, FewQueriesOverKeysOnBothSidesOfTheirTables) {
  for (const std::int64_t queries : {1, 3}) {
    for (const std::int64_t reach : {0, 5, 60, 400}) {
      Recipe recipe = long_recipe(DType::float32);
      recipe.queries = queries;
      recipe.table_reach = reach;
      recipe.slopes = reach != 5;
      recipe.buckets = reach == 60 ? Buckets::two_way : Buckets::none;
      recipe.alignment = reach == 400 ? Alignment::bottom_right : Alignment::top_left;
      recipe.query_offset = reach == 60;
      SCOPED_TRACE(::testing::PrintToString(recipe));
      const Made made = make(recipe);
      expect_oracles(made.problem, made.grad_output);
    }
  }
}

// Tokens of several stretches, `apart` from each other; the bits of a stretch run on.
Tensor positions(std::int64_t count, std::int64_t stretch, std::int64_t apart) {
  Tensor at = Tensor::zeros(DType::int64, Shape{1, count});
  for (std::int64_t i = 0; i < count; ++i) at.data<std::int64_t>()[i] = i + i / stretch * apart;
  return at;
}

TEST(OffsetBias, StretchesOfPositionsNearAndFarApart) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    // 3 apart all offsets are laid out; a million apart they are not, nor read from a table.
    for (const std::int64_t apart : {3, 1000000}) {
      for (const std::int64_t stretch : {7, 64}) {
        Recipe recipe = long_recipe(dtype);
        recipe.seed = static_cast<std::uint64_t>(apart + stretch);
        recipe.table_reach = 40;
        recipe.buckets = Buckets::two_way;
        recipe.max_distance = 64;
        recipe.causal = stretch != 64;
        const Made made = make(recipe);
        AttentionProblem problem = made.problem;
        const Tensor query_at = positions(recipe.queries, stretch, apart);
        const Tensor key_at = positions(recipe.keys, stretch, apart);
        problem.query_positions = query_at.view();
        problem.key_positions = key_at.view();
        // Slopes that leave something of the far stretches.
        const Tensor slopes =
            listed(DType::float32, Shape{2}, {apart == 3 ? 0.02 : 3e-7, apart == 3 ? 0.5 : 1e-6});
        problem.slopes = slopes.view();
        SCOPED_TRACE(std::to_string(apart) + " apart, stretches of " + std::to_string(stretch) +
                     ", " + std::string(name_of(dtype)));
        expect_oracles(problem, made.grad_output);
      }
    }
  }
}

// A key that is out of sight changes how its tile is computed in bfloat16, but no bit.
TEST(OffsetBias, BitsDoNotDependOnKeysOutOfSight) {
  Recipe recipe = long_recipe(DType::bfloat16);
  recipe.width = 17;
  recipe.table_reach = 5;
  recipe.slopes = true;
  const Made made = make(recipe);
  AttentionProblem problem = made.problem;
  const Tensor length = listed(DType::int64, Shape{1}, {140});
  problem.key_lengths = length.view();
  AttentionProblem other = problem;
  Tensor keys = copy_of(problem.k);
  set_element(keys.raw(), DType::bfloat16, 145 * recipe.width, 1e30);
  other.k = keys.view();
  for (const Route& route : fused_routes()) {
    EXPECT_EQ(bit_difference(answer(other, route), answer(problem, route)), "") << route.name;
  }
}

// Steep slopes leave weights of every size down to nothing. The far ones must not disturb.
TEST(OffsetBias, SteepSlopes) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    Recipe recipe = long_recipe(dtype);
    recipe.causal = true;
    const Made made = make(recipe);
    AttentionProblem problem = made.problem;
    const Tensor slopes = listed(DType::float32, Shape{2}, {0.5, 8});
    problem.slopes = slopes.view();
    expect_oracles(problem, made.grad_output);
  }
}

}  // namespace
}  // namespace volvelle::testing
