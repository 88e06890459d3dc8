// The sizes at which loops end: nothing, one, odd, and one past each tile, panel, table, window.
#include <array>

#include "support/expect_routes.h"

namespace volvelle::testing {
namespace {

TEST(Edges, LengthsAroundTilesAndPanels) {
  for (const std::int64_t queries : {0, 1, 2, 5, 63, 64, 65, 129}) {
    for (const std::int64_t keys : {0, 1, 2, 7, 127, 128, 129, 257}) {
      for (const bool causal : {false, true}) {
        Recipe recipe;
        recipe.queries = queries;
        recipe.keys = keys;
        recipe.width = 8;
        recipe.value_width = 5;
        recipe.causal = causal;
        expect_oracles_answer(recipe);
      }
    }
  }
}

TEST(Edges, EveryQueryCountUpToTwoPanels) {
  for (std::int64_t queries = 1; queries <= 70; ++queries) {
    Recipe recipe;
    recipe.queries = queries;
    recipe.keys = 33;
    recipe.causal = true;
    recipe.window = 9;
    expect_oracles_answer(recipe);
  }
}

TEST(Edges, HeadWidths) {
  for (const std::int64_t width : {1, 2, 3, 5, 7, 9, 20, 33, 80, 100, 128, 192, 257}) {
    for (const std::int64_t value_width : {std::int64_t{1}, width, std::int64_t{128}}) {
      Recipe recipe;
      recipe.queries = 19;
      recipe.keys = 35;
      recipe.width = width;
      recipe.value_width = value_width;
      recipe.causal = true;
      expect_oracles_answer(recipe);
      recipe.dtype = DType::bfloat16;
      expect_oracles_answer(recipe);
    }
  }
}

TEST(Edges, HeadCounts) {
  for (const std::int64_t heads : {1, 6, 12}) {
    for (const std::int64_t key_heads : {1, 2, 3, 6, 12}) {
      if (heads % key_heads != 0) continue;
      Recipe recipe;
      recipe.batch = 2;
      recipe.key_heads = key_heads;
      recipe.group = heads / key_heads;
      recipe.queries = 5;
      recipe.keys = 9;
      recipe.slopes = true;
      recipe.sinks = true;
      expect_oracles_answer(recipe);
    }
  }
}

TEST(Edges, NoBatchRows) {
  Recipe recipe;
  recipe.batch = 0;
  recipe.causal = true;
  expect_oracles_answer(recipe);
  recipe.slopes = true;
  expect_oracles_answer(recipe);
  recipe.table_reach = 2;
  expect_oracles_answer(recipe);
}

TEST(Edges, WindowsAroundTheLength) {
  for (const std::int64_t window : {1, 2, 39, 40, 41, 127, 128, 129, 1000}) {
    Recipe recipe;
    recipe.queries = recipe.keys = 140;
    recipe.window = window;
    recipe.causal = true;
    expect_oracles_answer(recipe);
    recipe.causal = false;
    expect_oracles_answer(recipe);
    recipe.window_right = 3;
    expect_oracles_answer(recipe);
  }
}

TEST(Edges, ExtentsOfAllSizesAreHeld) {
  for (const std::int64_t extent : {std::int64_t{1} << 31, std::int64_t{1} << 45, INT64_MAX}) {
    Recipe recipe;
    recipe.queries = 20;
    recipe.keys = 30;
    recipe.causal = true;
    recipe.window = recipe.window_right = recipe.chunk = extent;
    const Answer wide = oracle_answer(make(recipe).problem);
    recipe.window = recipe.window_right = recipe.chunk = 0;
    EXPECT_EQ(bit_difference(wide, oracle_answer(make(recipe).problem)), "");
    recipe.window = recipe.window_right = recipe.chunk = recipe.prefix = extent;
    expect_oracles_answer(recipe);
  }
}

// Offsets of any size: far to the right everything lies behind the query, far to the left all
// keys are ahead of it.
TEST(Edges, OffsetsOfAllSizes) {
  Recipe recipe;
  recipe.batch = 2;
  recipe.queries = 3;
  recipe.keys = 6;
  Made made = make(recipe);
  const Answer full = oracle_answer(made.problem);
  for (const std::int64_t far : {std::int64_t{1} << 31, std::int64_t{1} << 45, INT64_MAX}) {
    const std::int64_t offsets[] = {far, -far};
    made.problem.query_offset = View(offsets, {2});
    made.problem.causal = true;
    const Answer right = oracle_answer(made.problem);
    EXPECT_EQ(right.lse.data<float>()[0], full.lse.data<float>()[0]);
    EXPECT_EQ(right.lse.data<float>()[3], -std::numeric_limits<float>::infinity());
    expect_oracles_answer(made.problem);
    made.problem.window = 5;
    made.problem.chunk = 7;
    expect_oracles_answer(made.problem);
    made.problem.window = made.problem.chunk = 0;
  }
}

TEST(Edges, ChunksOfNegativePositions) {
  for (const std::int64_t chunk : {1, 2, 3, 7}) {
    Recipe recipe;
    recipe.queries = 20;  // the first fourteen stand before key 0
    recipe.keys = 6;
    recipe.chunk = chunk;
    expect_oracles_answer(recipe);
  }
}

TEST(Edges, TablesOneShorterThanTheOffsets) {
  for (const std::int64_t reach : {0, 1, 8, 9, 10, 128}) {
    Recipe recipe;
    recipe.queries = recipe.keys = 10;
    recipe.table_reach = reach;
    expect_oracles_answer(recipe);
  }
}

TEST(Edges, PositionsAtTheirLimits) {
  Recipe recipe;
  recipe.queries = 3;
  recipe.keys = 4;
  recipe.table_reach = 2;
  recipe.buckets = Buckets::two_way;
  Made made = make(recipe);
  const std::int64_t limit = std::int64_t{1} << 30;
  const std::int64_t query[] = {-limit, limit, 0};
  const std::int64_t key[] = {limit, -limit, limit - 1, 0};
  made.problem.query_positions = View(query, {1, 3});
  made.problem.key_positions = View(key, {4});  // rank 1 serves every batch row
  expect_oracles_answer(made.problem);
  const float slope = 1e-9F;
  made.problem.slopes = View(&slope, {1});
  expect_oracles_answer(made.problem);
}

}  // namespace
}  // namespace volvelle::testing
