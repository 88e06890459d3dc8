#include "volvelle/measure/attention_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/sampled_check.h"
#include "measure/timed_calls.h"
#include "support/naive_attention.h"
#include "volvelle/attention/attend.h"
#include "volvelle/attention/simd.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(AttentionBench, UsefulOperationsCountThePairsThatAreSeen) {
  EXPECT_EQ(useful_operations({.batch = 2, .heads = 3, .queries = 4, .head_width = 5}),
            2 * 3 * 16 * 4 * 5);
  EXPECT_EQ(useful_operations({.heads = 1, .queries = 4, .head_width = 1, .causal = true}), 10 * 4);
  EXPECT_EQ(
      useful_operations({.heads = 1, .queries = 2, .keys = 5, .head_width = 1, .causal = true}),
      (4 + 5) * 4);
  EXPECT_EQ(
      useful_operations({.heads = 1, .queries = 5, .keys = 2, .head_width = 1, .causal = true}),
      (0 + 0 + 0 + 1 + 2) * 4);
  EXPECT_EQ(
      useful_operations({.heads = 1, .queries = 5, .head_width = 1, .causal = true, .window = 2}),
      (1 + 2 + 2 + 2 + 2) * 4);
  // A window alone does not hide what comes later.
  EXPECT_EQ(useful_operations({.heads = 1, .queries = 3, .head_width = 1, .window = 1}),
            (3 + 2 + 1) * 4);
}

TEST(AttentionBench, MeasuresACheckedRow) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16}) {
    const AttentionFigures row = measure_attention(
        {.dtype = dtype, .heads = 2, .queries = 40, .head_width = 8, .causal = true},
        {.threads = 1, .seconds = 0.002});
    EXPECT_EQ(row.shape.keys, 40);
    EXPECT_EQ(row.shape.key_heads, 2);
    EXPECT_EQ(row.threads, 1);
    EXPECT_EQ(row.simd, simd_target());
    EXPECT_GT(row.milliseconds, 0);
    EXPECT_GT(row.gflops, 0);
    EXPECT_GT(row.peak_gflops, 0);
    EXPECT_GT(row.share_of_peak, 0);
    EXPECT_GE(row.repetitions, 5);
    EXPECT_LT(row.max_error, dtype == DType::float64 ? 1e-14 : 0.02);
  }
}

TEST(AttentionBench, StopsWhenAsked) {
  const AttentionFigures row = measure_attention(
      {.queries = 8}, {.threads = 1, .seconds = 100, .stopped = [] { return true; }});
  EXPECT_EQ(row.repetitions, 0);
}

TEST(AttentionBench, LengthsBelowOneThrow) {
  EXPECT_THAT([] { measure_attention({.queries = -1}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("queries -1")));
  EXPECT_THROW(measure_attention({.head_width = 0}), InvalidArgument);
  EXPECT_THROW(measure_attention({.heads = 3, .key_heads = 2, .queries = 4}), InvalidArgument);
}

TEST(AttentionBench, TheTableHoldsEveryDtypeAndTheGoals) {
  bool window = false, small = false, half = false;
  for (const AttentionCase& shape : attention_cases()) {
    window = window || (shape.window == 256 && shape.queries == 4096);
    small = small || (shape.heads == 1 && shape.queries == 2 && shape.head_width == 2);
    half = half || shape.dtype == DType::float16;
    EXPECT_GT(useful_operations(shape), 0);
  }
  EXPECT_TRUE(window && small && half);
}

TEST(SampledCheck, AWrongRowIsCaught) {
  const NaiveAttention naive = NaiveAttention::random(1, 2, 2, 6, 6, 4, 3);
  AttentionResult result = attend(naive.problem());
  EXPECT_LT(check_sampled_rows(naive.problem(), result.output.view()), 1e-5);
  result.output.data<float>()[20] += 0.01f;
  EXPECT_THAT([&] { check_sampled_rows(naive.problem(), result.output.view()); },
              ThrowsMessage<InternalError>(HasSubstr("differs from the oracle")));
}

TEST(TimedCalls, ShortCallsAreBatched) {
  int calls = 0;
  const Figures timing =
      time_calls({.call = [&] { ++calls; }, .operations = 1}, {.threads = 1, .seconds = 0});
  EXPECT_EQ(timing.repetitions, 5);
  EXPECT_GT(calls, 1000);
  EXPECT_GT(timing.milliseconds, 0);
  EXPECT_LT(timing.milliseconds, 1e-2);
}

}  // namespace
}  // namespace volvelle
