// Dropped weights: the right share, independent, the same on every path, and the rest untouched.
#include <cmath>
#include <vector>

#include "attention/dropout.h"
#include "support/expect_routes.h"
#include "support/gradients.h"

namespace volvelle::testing {
namespace {

Recipe busy() {
  Recipe recipe;
  recipe.batch = recipe.key_heads = recipe.group = 2;
  recipe.queries = 45;
  recipe.keys = 150;
  recipe.width = 8;
  recipe.value_width = 12;
  recipe.causal = true;
  recipe.sinks = true;
  return recipe;
}

// Which weights were dropped, read off the output: values that name their key, one in each column.
std::vector<std::vector<bool>> dropped_cells(const Route& route, double p, std::uint64_t seed,
                                             std::int64_t queries, std::int64_t keys) {
  const Tensor q = Tensor::zeros(DType::float32, {queries, 1});
  const Tensor k = Tensor::zeros(DType::float32, {keys, 1});
  Tensor v = Tensor::zeros(DType::float32, {keys, keys});
  for (std::int64_t j = 0; j < keys; ++j) v.data<float>()[j * keys + j] = 1;
  const AttentionProblem problem{
      .q = q.view(), .k = k.view(), .v = v.view(), .dropout = p, .dropout_seed = seed};
  const Answer ours = answer(problem, route);
  std::vector<std::vector<bool>> cells(static_cast<std::size_t>(queries));
  for (std::int64_t i = 0; i < queries; ++i) {
    for (std::int64_t j = 0; j < keys; ++j) {
      const double weight = ours.output.data<float>()[i * keys + j] * static_cast<double>(keys);
      cells[static_cast<std::size_t>(i)].push_back(weight == 0);
      if (weight != 0) {
        EXPECT_NEAR(weight, 1 / (1 - p), 1e-5 / (1 - p));
      }
    }
  }
  return cells;
}

double share_of(const std::vector<bool>& row) {
  double count = 0;
  for (const bool dropped : row) count += dropped;
  return count / static_cast<double>(row.size());
}

TEST(Dropout, DropsTheShareAskedForInEveryRowAndColumn) {
  constexpr std::int64_t kQueries = 200, kKeys = 400;
  for (const double p : {0.1, 0.5, 0.9}) {
    const auto cells = dropped_cells(fused_routes().front(), p, 17, kQueries, kKeys);
    double total = 0;
    for (const auto& row : cells) {
      EXPECT_NEAR(share_of(row), p, 5 * std::sqrt(p * (1 - p) / kKeys));
      total += share_of(row) / kQueries;
    }
    EXPECT_NEAR(total, p, 4 * std::sqrt(p * (1 - p) / (kQueries * kKeys)));
    for (std::size_t j = 0; j < kKeys; ++j) {
      std::vector<bool> column;
      for (const auto& row : cells) column.push_back(row[j]);
      EXPECT_NEAR(share_of(column), p, 5 * std::sqrt(p * (1 - p) / kQueries));
    }
  }
}

// The share of cells that agree between neighbouring rows, columns and seeds is what chance gives.
TEST(Dropout, CellsAreIndependentOfTheirNeighbours) {
  constexpr std::int64_t kQueries = 200, kKeys = 400;
  const double p = 0.5;
  const auto cells = dropped_cells(fused_routes().front(), p, 17, kQueries, kKeys);
  const auto other = dropped_cells(fused_routes().front(), p, 18, kQueries, kKeys);
  double by_row = 0, by_column = 0, by_block = 0, by_seed = 0;
  for (std::size_t i = 0; i < kQueries; ++i) {
    for (std::size_t j = 0; j < kKeys; ++j) {
      by_row += cells[i][j] == cells[(i + 1) % kQueries][j];
      by_column += cells[i][j] == cells[i][(j + 1) % kKeys];
      by_block += cells[i][j] == cells[i][(j + 4) % kKeys];
      by_seed += cells[i][j] == other[i][j];
    }
  }
  const double count = kQueries * kKeys;
  for (const double agreeing : {by_row, by_column, by_block, by_seed}) {
    EXPECT_NEAR(agreeing / count, 0.5, 4 * std::sqrt(0.25 / count));
  }
}

TEST(Dropout, EveryPathDropsTheSameCells) {
  const auto first = dropped_cells(fused_routes().front(), 0.4, 5, 37, 150);
  for (const Route& route : routes()) {
    EXPECT_EQ(dropped_cells(route, 0.4, 5, 37, 150), first) << route.name;
    EXPECT_NE(dropped_cells(route, 0.4, 6, 37, 150), first) << route.name << " control";
  }
}

TEST(Dropout, LeavesTheStatisticsAlone) {
  Recipe recipe = busy();
  recipe.keep = Span::full;
  recipe.bias = Span::plane;
  const Made made = make(recipe);
  AttentionProblem dropping = made.problem;
  dropping.dropout = 0.5;
  for (const Route& route : routes()) {
    const Answer with = answer(dropping, route);
    Answer without = answer(made.problem, route);
    EXPECT_NE(bit_difference(with, without), "") << "control";
    without.output = with.output;
    EXPECT_EQ(bit_difference(with, without), "") << route.name;
  }
}

// Evaluation: p = 0 draws nothing, whatever the seed, and the average over seeds is its result.
TEST(Dropout, ZeroIsNoneAndTheMeanIsUnmoved) {
  const Made made = make(busy());
  for (const Route& route : routes()) {
    AttentionProblem seeded = made.problem;
    seeded.dropout_seed = 99;
    EXPECT_EQ(bit_difference(answer(seeded, route), answer(made.problem, route)), "");
  }
  const std::vector<double> right =
      values_of(answer(made.problem, fused_routes().front()).output.view());
  std::vector<double> mean(right.size());
  constexpr int kSeeds = 400;
  AttentionProblem dropping = made.problem;
  dropping.dropout = 0.5;
  for (int seed = 0; seed < kSeeds; ++seed) {
    dropping.dropout_seed = static_cast<std::uint64_t>(seed);
    const std::vector<double> one =
        values_of(answer(dropping, fused_routes().front()).output.view());
    for (std::size_t n = 0; n < mean.size(); ++n) mean[n] += one[n] / kSeeds;
  }
  // |v| <= 1 and p = 1/2: one output's variance is at most sum w^2 v^2 <= 1, and there are 4320.
  for (std::size_t n = 0; n < mean.size(); ++n) EXPECT_NEAR(mean[n], right[n], 6.0 / 20) << n;
  double worst_bias = 0;
  for (std::size_t n = 0; n < mean.size(); ++n) {
    worst_bias += (mean[n] - right[n]) / static_cast<double>(mean.size());
  }
  EXPECT_NEAR(worst_bias, 0, 0.005);
}

TEST(Dropout, BitsDoNotDependOnThreads) {
  Recipe recipe = busy();
  recipe.dropout = 0.3;
  const Made made = make(recipe);
  for (const Route& route : routes()) {
    const Answer one = answer(made.problem, route, 1);
    for (const int threads : {2, 5, 8}) {
      EXPECT_EQ(bit_difference(answer(made.problem, route, threads), one), "") << route.name;
    }
  }
}

}  // namespace
}  // namespace volvelle::testing
