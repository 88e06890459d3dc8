#include "volvelle/measure/decode_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/rotation.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(DecodeBench, BytesAreThoseOfTheKeysAndValuesThatAreSeen) {
  EXPECT_EQ(
      decode_bytes(
          {.batch = 2, .heads = 12, .key_heads = 3, .queries = 1, .keys = 100, .head_width = 5}),
      2.0 * 3 * 100 * (5 + 5) * 4);
  EXPECT_EQ(decode_bytes(
                {.dtype = DType::bfloat16, .heads = 1, .queries = 1, .keys = 7, .head_width = 8}),
            7.0 * 16 * 2);
  // The first of two queries sees one key more than the window of the last reaches back to.
  EXPECT_EQ(
      decode_bytes(
          {.heads = 1, .queries = 2, .keys = 100, .head_width = 1, .causal = true, .window = 10}),
      11.0 * 2 * 4);
  EXPECT_EQ(decode_bytes({.heads = 1, .queries = 1, .keys = 5, .head_width = 1, .window = 10}),
            5.0 * 2 * 4);
}

TEST(DecodeBench, MeasuresACheckedRowAgainstTheReadBandwidth) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    const AttentionFigures row = measure_decode(
        {.dtype = dtype, .heads = 4, .key_heads = 2, .queries = 1, .keys = 256, .head_width = 16},
        {.threads = 1, .seconds = 0, .cold_bytes = 400000});
    EXPECT_EQ(row.shape.keys, 256);
    EXPECT_EQ(row.repetitions, 5);
    EXPECT_GT(row.milliseconds, 0);
    EXPECT_GT(row.gflops, 0);
    EXPECT_GT(row.share_of_peak, 0);
    EXPECT_GT(row.gigabytes_per_second, 0);
    EXPECT_GT(row.read_gbs, 0);
    EXPECT_GT(row.share_of_bandwidth, 0);
    EXPECT_GE(row.cold_bytes, 400000u);
    EXPECT_LT(row.cold_bytes, 500000u);
    EXPECT_LT(row.max_error, 0.02);
  }
}

// Pages are what fills the memory, however few tokens they hold.
TEST(DecodeBench, ShortSequencesAreCountedInPages) {
  const AttentionFigures row =
      measure_decode({.heads = 2, .queries = 1, .keys = 3, .head_width = 16},
                     {.threads = 1, .seconds = 0, .cold_bytes = 400000});
  EXPECT_GE(row.cold_bytes, 400000u);
  EXPECT_LT(row.cold_bytes, 500000u);
}

TEST(DecodeBench, RefusesWhatIsNoShape) {
  EXPECT_THAT([] { measure_decode({.queries = 1, .keys = -4}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("keys -4")));
  EXPECT_THROW(decode_bytes({.head_width = 0}), InvalidArgument);
  EXPECT_THROW(measure_decode({.dtype = DType::float64, .queries = 1, .keys = 4}), InvalidArgument);
  EXPECT_THROW(measure_decode({.heads = 3, .key_heads = 2, .queries = 1, .keys = 4}),
               InvalidArgument);
}

TEST(DecodeBench, TheTableHoldsTheGoals) {
  std::size_t grouped = 0, half = 0;
  for (const AttentionCase& shape : decode_cases()) {
    EXPECT_EQ(shape.key_heads, 8);
    EXPECT_EQ(shape.queries, 1);
    grouped += shape.heads == 32;
    half += shape.dtype == DType::bfloat16;
  }
  EXPECT_EQ(decode_cases().size(), 32u);
  EXPECT_EQ(grouped, 16u);
  EXPECT_EQ(half, 16u);
}

TEST(Rotation, FillsWhatItIsToFillButNotTheMemory) {
  EXPECT_EQ(sets_in_rotation(1000, 10000), 10u);
  EXPECT_EQ(sets_in_rotation(1000, 10001), 11u);
  EXPECT_EQ(sets_in_rotation(1000, 10), 2u);
  EXPECT_GE(sets_in_rotation(0, 10), 2u);
  EXPECT_EQ(sets_in_rotation(1, 400'000'000), 16384u);
  EXPECT_EQ(sets_in_rotation(std::size_t{1} << 60, std::size_t{1} << 62), 1u);
  EXPECT_LT(sets_in_rotation(std::size_t{1} << 40, std::size_t{1} << 60), 16384u);
}

}  // namespace
}  // namespace volvelle
