// The fused backward against the oracle's where its walk changes shape: around vectors, panels,
// groups of queries, tiles and blocks of keys; odd widths; every kind of sum of a bias gradient.
#include <gtest/gtest.h>

#include "support/gradients.h"

namespace volvelle::testing {
namespace {

void expect_oracles_gradients(const Recipe& recipe, int threads = 2) {
  SCOPED_TRACE(::testing::PrintToString(recipe));
  const Made made = make(recipe);
  const Gradients right = oracle_gradients(made.problem, made.grad_output);
  for (const Route& route : fused_routes()) {
    const Gradients ours = gradients(made.problem, made.grad_output, route, threads);
    EXPECT_EQ(gradient_difference(made.problem, made.grad_output, ours, right), "") << route.name;
  }
}

Recipe sized(std::int64_t queries, std::int64_t keys, std::int64_t width,
             std::int64_t value_width) {
  Recipe recipe;
  recipe.seed = static_cast<std::uint64_t>(queries * 1000 + keys);
  recipe.queries = queries;
  recipe.keys = keys;
  recipe.width = width;
  recipe.value_width = value_width;
  return recipe;
}

TEST(FusedBackwardEdges, QueriesAroundVectorsPanelsAndGroups) {
  for (const std::int64_t queries : {0, 1, 15, 16, 17, 31, 32, 33, 63, 65, 127, 128, 129, 257}) {
    Recipe recipe = sized(queries, 40, 8, 8);
    expect_oracles_gradients(recipe);
    recipe.causal = true;
    expect_oracles_gradients(recipe);
  }
}

TEST(FusedBackwardEdges, KeysAroundTilesAndBlocks) {
  for (const std::int64_t keys : {0, 1, 12, 13, 14, 127, 128, 129, 255, 257, 511, 512, 513, 1025}) {
    Recipe recipe = sized(33, keys, 5, 7);
    expect_oracles_gradients(recipe);
    recipe.window = 100;
    recipe.causal = true;
    expect_oracles_gradients(recipe);
  }
}

TEST(FusedBackwardEdges, Widths) {
  for (const std::int64_t width : {1, 3, 16, 20, 33, 80, 192}) {
    for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
      Recipe recipe = sized(40, 140, width, width == 20 ? 1 : width + 3);
      recipe.dtype = dtype;
      recipe.causal = true;
      expect_oracles_gradients(recipe);
    }
  }
}

// More queries than keys leaves rows that see nothing, fewer leaves keys that all see.
TEST(FusedBackwardEdges, SquaresAndTheirNeighboursUnderCausality) {
  using Pair = std::pair<std::int64_t, std::int64_t>;
  for (const auto& [queries, keys] : {Pair{300, 290}, {290, 300}, {600, 70}, {70, 600}}) {
    Recipe recipe = sized(queries, keys, 9, 6);
    recipe.causal = true;
    recipe.key_heads = recipe.group = 2;
    expect_oracles_gradients(recipe, 4);
    recipe.alignment = Alignment::top_left;
    recipe.sinks = true;
    expect_oracles_gradients(recipe, 4);
  }
}

TEST(FusedBackwardEdges, EverySpanOfABiasAndEveryType) {
  for (const Span span : {Span::full, Span::per_head, Span::per_batch, Span::plane, Span::keys,
                          Span::scalar, Span::queries}) {
    for (const DType dtype : {DType::float32, DType::float64, DType::float16}) {
      Recipe recipe = sized(70, 300, 4, 4);
      recipe.batch = recipe.group = 2;
      recipe.bias = span;
      recipe.bias_dtype = dtype;
      recipe.causal = true;
      expect_oracles_gradients(recipe, 3);
    }
  }
}

TEST(FusedBackwardEdges, DroppedWeightsAreThoseOfTheForward) {
  for (const double dropout : {0.1, 0.9}) {
    Recipe recipe = sized(150, 300, 20, 9);
    recipe.key_heads = recipe.group = 2;
    recipe.dropout = dropout;
    expect_oracles_gradients(recipe);
    recipe.causal = recipe.sinks = true;
    recipe.softcap = 2;
    recipe.bias = Span::plane;
    expect_oracles_gradients(recipe);
  }
}

TEST(FusedBackwardEdges, TablesAlongDiagonalsAndByExplicitPositions) {
  for (const bool explicit_positions : {false, true}) {
    Recipe recipe = sized(150, 700, 8, 8);
    recipe.batch = recipe.key_heads = 2;
    recipe.slopes = true;
    recipe.table_reach = 17;
    recipe.buckets = Buckets::two_way;
    recipe.query_positions = recipe.key_positions = explicit_positions;
    recipe.window = 200;
    expect_oracles_gradients(recipe, 4);
    recipe.softcap = 1.5;
    recipe.bias = Span::plane;
    expect_oracles_gradients(recipe, 4);
  }
}

}  // namespace
}  // namespace volvelle::testing
