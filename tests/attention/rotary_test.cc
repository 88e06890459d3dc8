// Turning queries and keys by position: the formula by hand, positions of every kind, gradients
// against central differences; on every path and instruction set.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "support/expect_routes.h"
#include "support/gradients.h"

namespace volvelle::testing {
namespace {

// Positions times 1/base^(2i/r), as cosines and sines (P, r/2) in float64.
struct Angles {
  Angles(std::int64_t length, std::int64_t pairs, double base = 10000)
      : cosines(DType::float64, {length, pairs}), sines(DType::float64, {length, pairs}) {
    for (std::int64_t p = 0; p < length; ++p) {
      for (std::int64_t i = 0; i < pairs; ++i) {
        const double frequency =
            std::pow(base, -static_cast<double>(i) / static_cast<double>(pairs));
        cosines.data<double>()[p * pairs + i] = std::cos(static_cast<double>(p) * frequency);
        sines.data<double>()[p * pairs + i] = std::sin(static_cast<double>(p) * frequency);
      }
    }
  }
  Tensor cosines, sines;
};

// Rows (B,H,T,D) turned one by one, written apart from the library.
Tensor turned(const View& rows, const Angles& angles, RotaryPairing pairing,
              const std::function<std::int64_t(std::int64_t, std::int64_t)>& position) {
  Tensor result = converted(rows, DType::float64);
  const Shape& shape = result.shape();
  const std::int64_t pairs = angles.cosines.shape()[1];
  for (std::int64_t n = 0; n < shape[0] * shape[1] * shape[2]; ++n) {
    const std::int64_t p = position(n / shape[2] / shape[1], n % shape[2]);
    double* row = result.data<double>() + n * shape[3];
    for (std::int64_t i = 0; i < pairs; ++i) {
      const double c = angles.cosines.data<double>()[p * pairs + i];
      const double s = angles.sines.data<double>()[p * pairs + i];
      double& a = row[pairing == RotaryPairing::split_half ? i : 2 * i];
      double& b = row[pairing == RotaryPairing::split_half ? i + pairs : 2 * i + 1];
      const double first = a, second = b;
      a = first * c - second * s;
      b = first * s + second * c;
    }
  }
  return converted(result.view(), rows.dtype());
}

void set_tables(AttentionProblem& problem, const Angles& angles, RotaryPairing pairing) {
  problem.rotary = {
      .cosines = angles.cosines.view(), .sines = angles.sines.view(), .pairing = pairing};
}

Recipe sized(std::int64_t width) {
  Recipe recipe;
  recipe.batch = 2;
  recipe.key_heads = recipe.group = 2;
  recipe.queries = 37;
  recipe.keys = 70;
  recipe.width = width;
  recipe.causal = true;
  return recipe;
}

// A quarter turn and its double take (1,0) to (0,1) and (1,2) to (-1,-2).
TEST(Rotary, QuarterTurnsByHand) {
  const double cosines[] = {1, 0, -1};
  const double sines[] = {0, 1, 0};
  const float q[] = {1, 0, 1, 2};
  const float k[] = {1, 0, 0, 1};
  const float v[] = {1, 0};
  const std::int64_t at[] = {1, 2}, start[] = {0, 0};
  AttentionProblem problem{.q = View(q, {2, 2}), .k = View(k, {2, 2}), .v = View(v, {2, 1})};
  problem.scale = 1;
  problem.rotary = {.cosines = View(cosines, {3, 1}), .sines = View(sines, {3, 1})};
  problem.query_positions = View(at, {2});
  problem.key_positions = View(start, {2});
  // Scores (0, 1) and (-1, -2): the first key's weights are 1 / (1 + e) and 1 / (1 + 1/e).
  for (const Route& route : routes()) {
    const Answer ours = answer(problem, route);
    EXPECT_NEAR(ours.output.data<float>()[0], 1 / (1 + std::exp(1.0)), 1e-6) << route.name;
    EXPECT_NEAR(ours.output.data<float>()[1], 1 / (1 + std::exp(-1.0)), 1e-6) << route.name;
  }
}

TEST(Rotary, IsAttentionOverRowsTurnedBefore) {
  for (const std::int64_t width : {2, 6, 20, 64, 80}) {
    for (const RotaryPairing pairing : {RotaryPairing::split_half, RotaryPairing::interleaved}) {
      for (const std::int64_t part : {width, (width / 4 + 1) * 2}) {
        SCOPED_TRACE("width " + std::to_string(width) + " turned " + std::to_string(part));
        const Made made = make(sized(width));
        const Angles angles(70, std::min(part, width) / 2);
        AttentionProblem before = made.problem;
        const Tensor q =
            turned(before.q, angles, pairing, [](auto, std::int64_t i) { return i + 33; });
        const Tensor k = turned(before.k, angles, pairing, [](auto, std::int64_t j) { return j; });
        before.q = q.view();
        before.k = k.view();
        AttentionProblem problem = made.problem;
        set_tables(problem, angles, pairing);
        const Answer right = oracle_answer(before);
        EXPECT_EQ(difference(problem, oracle_answer(problem), right), "");
        for (const Route& route : routes()) {
          EXPECT_EQ(difference(problem, answer(problem, route), right), "") << route.name;
        }
        AttentionProblem keys_before = problem;
        keys_before.k = k.view();
        EXPECT_NE(difference(problem, oracle_answer(keys_before), right), "") << "control";
        keys_before.rotary.keys_are_turned = true;
        for (const Route& route : routes()) {
          EXPECT_EQ(difference(problem, answer(keys_before, route), right), "") << route.name;
        }
      }
    }
  }
}

// Adding the same number to all positions changes nothing; moving the queries alone does.
TEST(Rotary, ScoresDependOnOffsetsAlone) {
  const Made made = make(sized(16));
  const Angles angles(400, 8);
  AttentionProblem problem = made.problem;
  set_tables(problem, angles, RotaryPairing::split_half);
  const Answer right = oracle_answer(problem);
  std::vector<std::int64_t> query(37), key(70);
  for (std::size_t i = 0; i < 37; ++i) query[i] = static_cast<std::int64_t>(i) + 33 + 250;
  for (std::size_t j = 0; j < 70; ++j) key[j] = static_cast<std::int64_t>(j) + 250;
  problem.query_positions = View(query.data(), {37});
  for (const Route& route : routes()) {
    EXPECT_NE(difference(problem, answer(problem, route), right), "") << route.name << " control";
  }
  problem.key_positions = View(key.data(), {70});
  for (const Route& route : routes()) {
    EXPECT_EQ(difference(problem, answer(problem, route), right), "") << route.name;
  }
}

TEST(Rotary, EveryKindOfTableAndPosition) {
  const auto with = [](const std::function<void(Recipe&)>& set) {
    for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
      Recipe recipe = sized(20);
      recipe.dtype = dtype;
      recipe.turned = 12;
      set(recipe);
      expect_oracles_answer(recipe);
    }
  };
  with([](Recipe&) {});
  with([](Recipe& r) { r.pairing = RotaryPairing::interleaved; });
  with([](Recipe& r) { r.turn_by_row = true; });
  with([](Recipe& r) { r.turn_keys_apart = r.turn_by_row = true; });
  with([](Recipe& r) { r.turn_dtype = DType::float64; });
  with([](Recipe& r) { r.query_positions = r.key_positions = true; });
  with([](Recipe& r) { r.keys_are_turned = r.key_positions = true; });
  with([](Recipe& r) { r.query_offset = true; });
  with([](Recipe& r) { r.alignment = Alignment::top_left; });
  with([](Recipe& r) { r.queries = 7; });
  with([](Recipe& r) { r.queries = 1; });
  with([](Recipe& r) { r.queries = 0; });
  with([](Recipe& r) { r.keys = 0; });
  with([](Recipe& r) { r.layout = Layout::bthd; });
  with([](Recipe& r) { r.layout = Layout::reversed; });
  with([](Recipe& r) { r.layout = Layout::gapped; });
  with([](Recipe& r) { r.key_lengths = r.poison = true; });
  with([](Recipe& r) { r.window = 5, r.poison = true, r.queries = 5; });
}

TEST(Rotary, SameBitsForAnyNumberOfThreads) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    Recipe recipe = sized(64);
    recipe.dtype = dtype;
    recipe.queries = 150;
    recipe.keys = 300;
    recipe.turned = 64;
    const Made made = make(recipe);
    for (const Route& route : routes()) {
      const Answer one = answer(made.problem, route, 1);
      const Gradients back = gradients(made.problem, made.grad_output, route, 1);
      for (const int threads : {2, 3}) {
        EXPECT_EQ(bit_difference(answer(made.problem, route, threads), one), "") << route.name;
        EXPECT_EQ(bit_difference(gradients(made.problem, made.grad_output, route, threads), back),
                  "")
            << route.name;
      }
    }
  }
}

}  // namespace
}  // namespace volvelle::testing
