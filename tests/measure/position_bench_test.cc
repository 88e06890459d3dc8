#include "volvelle/measure/position_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "measure/positioned_attention.h"
#include "measure/timed_calls.h"
#include "volvelle/base/error.h"
#include "volvelle/measure/attention_bench.h"

namespace volvelle {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const MeasureOptions kShort{.threads = 1, .seconds = 0.002};

TEST(PositionBench, MeasuresCheckedAttentionAndGradientsOfEveryScheme) {
  for (const PositionWork work : {PositionWork::attention, PositionWork::backward}) {
    for (const std::string& scheme : position_bench_schemes()) {
      const PositionFigures row = measure_positions(
          {work, scheme, {.heads = 2, .queries = 40, .head_width = 8, .causal = true}}, kShort);
      EXPECT_EQ(row.one.shape.keys, 40) << scheme;
      EXPECT_GT(row.milliseconds, 0) << scheme;
      EXPECT_GT(row.ratio, 0) << scheme;
      EXPECT_GT(row.share_of_peak, 0) << scheme;
      EXPECT_EQ(row.read_gbs, 0) << scheme;
      EXPECT_GT(row.max_error, 0) << scheme;
      EXPECT_LT(row.max_error, 1e-3) << scheme;
    }
  }
}

TEST(PositionBench, MeasuresCheckedBlocksAndSteps) {
  const PositionFigures block = measure_positions(
      {PositionWork::block, "rotary", {.heads = 2, .queries = 40, .head_width = 8, .causal = true}},
      kShort);
  EXPECT_GT(block.ratio, 0);
  EXPECT_LT(block.max_error, 1e-4);
  const PositionFigures step =
      measure_positions({PositionWork::step,
                         "alibi",
                         {.heads = 2, .queries = 1, .keys = 40, .head_width = 8, .causal = true}},
                        kShort);
  EXPECT_GT(step.ratio, 0);
  EXPECT_GT(step.share_of_bandwidth, 0);
  EXPECT_LT(step.max_error, 1e-3);
}

TEST(PositionBench, MeasuresCheckedTurns) {
  for (const char* scheme : {"rotary", "rotary(pairing=interleaved, partial=0.5)", "xpos"}) {
    for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16}) {
      const PositionFigures turn = measure_positions(
          {PositionWork::turn, scheme, {.dtype = dtype, .heads = 2, .queries = 40}}, kShort);
      EXPECT_EQ(turn.ratio, 0) << scheme;
      EXPECT_GT(turn.share_of_bandwidth, 0) << scheme;
      EXPECT_LT(turn.max_error, 0.2) << scheme;
    }
  }
}

TEST(PositionBench, ARatioIsThatOfTheTwoTimes) {
  volatile double sink = 0;
  const auto work = [&](int count) {
    for (int i = 0; i < count; ++i) sink = sink + 1.0 / (i + 1);
  };
  const Figures figures =
      time_calls({.call = [&] { work(60000); }, .beside = [&] { work(20000); }, .operations = 1},
                 {.threads = 1, .seconds = 0.02});
  EXPECT_GT(figures.ratio, 1.5);
  EXPECT_LT(figures.ratio, 6);
  EXPECT_EQ(time_calls({.call = [&] { work(10); }, .operations = 1}, kShort).ratio, 0);
}

// What the schemes hand to attention reaches the problem; without that, all rows would be one.
TEST(PositionBench, EverySchemeEntersTheProblem) {
  const AttentionArrays arrays(filled_in({.heads = 2, .queries = 9, .head_width = 4}));
  const auto problem_of = [&](const char* scheme) {
    return PositionedAttention(arrays, scheme).problem();
  };
  EXPECT_FALSE(problem_of("none").slopes);
  EXPECT_TRUE(problem_of("rotary").rotary);
  EXPECT_TRUE(problem_of("alibi").slopes);
  EXPECT_TRUE(problem_of("clamped(max=3)").bias_table);
  EXPECT_TRUE(problem_of("t5").bucket_table);
  EXPECT_TRUE(problem_of("relative(max=3)").relative_keys);
  PositionedAttention learned(arrays, "alibi(learned=yes)");
  EXPECT_TRUE(learned.gradients({}).slopes);
  PositionedAttention fixed(arrays, "alibi");
  EXPECT_FALSE(fixed.gradients({}).slopes);
}

TEST(PositionBench, OperationsAreThoseWithoutPositions) {
  const AttentionCase shape{.heads = 2, .queries = 5, .head_width = 3, .causal = true};
  EXPECT_EQ(position_operations({PositionWork::attention, "alibi", shape}),
            useful_operations(shape));
  // 4 C^2 of projections, counted three times, and the pairs of both ways.
  EXPECT_EQ(position_operations({PositionWork::block, "none", shape}),
            3 * 2 * 5 * 4 * 36 + 2 * 15 * (4 + 10) * 3);
  const AttentionCase one{.heads = 2, .queries = 1, .keys = 7, .head_width = 3, .causal = true};
  EXPECT_EQ(position_operations({PositionWork::step, "none", one}),
            6 * (2 * (4 + 8) * 36 + 2 * 7 * 4 * 3) + 2 * 6 * 512);
}

TEST(PositionBench, RefusesWhatItCannotMeasure) {
  const auto with = [](PositionWork work, const char* scheme, const AttentionCase& shape) {
    return [=] { measure_positions({work, scheme, shape}, kShort); };
  };
  const AttentionCase shape{.queries = 8, .causal = true};
  EXPECT_THAT(with(PositionWork::attention, "roatry", shape),
              ThrowsMessage<InvalidArgument>(HasSubstr("rotary")));
  EXPECT_THAT(with(PositionWork::attention, "sinusoidal", shape),
              ThrowsMessage<InvalidArgument>(HasSubstr("added to the token vectors")));
  EXPECT_THAT(with(PositionWork::block, "rotary", {.dtype = DType::float64, .causal = true}),
              ThrowsMessage<InvalidArgument>(HasSubstr("not float64")));
  EXPECT_THAT(with(PositionWork::block, "rotary", {.queries = 8}),
              ThrowsMessage<InvalidArgument>(HasSubstr("causality")));
  EXPECT_THAT(with(PositionWork::block, "rotary", {.queries = 8, .keys = 9, .causal = true}),
              ThrowsMessage<InvalidArgument>(HasSubstr("not 9")));
  EXPECT_THAT(with(PositionWork::turn, "alibi", shape),
              ThrowsMessage<InvalidArgument>(HasSubstr("turns nothing")));
  EXPECT_THAT(with(PositionWork::step, "rotary", shape),
              ThrowsMessage<InvalidArgument>(HasSubstr("one query")));
}

TEST(PositionBench, TheTableHasATwinWithoutPositionsForEveryCase) {
  std::set<std::string> works;
  for (const PositionCase& one : position_cases()) {
    works.emplace(name_of(one.work));
    if (one.work == PositionWork::turn) continue;
    const bool twin = std::ranges::any_of(position_cases(), [&](const PositionCase& other) {
      return other.work == one.work && other.scheme == "none" &&
             other.shape.queries == one.shape.queries && other.shape.keys == one.shape.keys;
    });
    EXPECT_TRUE(twin) << one.scheme;
    EXPECT_NO_THROW(position_operations(one));
  }
  EXPECT_EQ(works.size(), 5u);
}

}  // namespace
}  // namespace volvelle
