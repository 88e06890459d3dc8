#include "volvelle/measure/backward_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/attention_arrays.h"
#include "measure/random_array.h"
#include "measure/sampled_gradients.h"
#include "measure/sampled_rows.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(BackwardBench, FiveProductsForEachPairThatIsSeen) {
  EXPECT_EQ(backward_operations({.batch = 2, .heads = 3, .queries = 4, .head_width = 5}),
            2 * 3 * 16 * 10 * 5);
  EXPECT_EQ(backward_operations({.heads = 1, .queries = 4, .head_width = 1, .causal = true}),
            10 * 10);
}

TEST(BackwardBench, MeasuresACheckedRow) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16}) {
    const AttentionFigures row = measure_backward({.dtype = dtype,
                                                   .heads = 4,
                                                   .key_heads = 2,
                                                   .queries = 40,
                                                   .head_width = 8,
                                                   .causal = true},
                                                  {.threads = 1, .seconds = 0});
    EXPECT_EQ(row.shape.keys, 40);
    EXPECT_EQ(row.repetitions, 5);
    EXPECT_GT(row.milliseconds, 0);
    EXPECT_GT(row.gflops, 0);
    EXPECT_GT(row.share_of_peak, 0);
    EXPECT_EQ(row.read_gbs, 0);
    EXPECT_LT(row.max_error, dtype == DType::float64 ? 1e-13 : 0.05);
  }
}

TEST(BackwardBench, RefusesWhatIsNoShape) {
  EXPECT_THAT([] { measure_backward({.queries = -1}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("queries -1")));
  EXPECT_THROW(measure_backward({.heads = 3, .key_heads = 2, .queries = 4}), InvalidArgument);
}

TEST(BackwardBench, TheTableHoldsTheGoals) {
  bool window = false, grouped = false, wide = false;
  for (const AttentionCase& shape : backward_cases()) {
    EXPECT_GE(shape.queries, 512);
    window = window || shape.window == 256;
    grouped = grouped || shape.key_heads == 2;
    wide = wide || shape.dtype == DType::float64;
  }
  EXPECT_TRUE(window && grouped && wide);
}

// Each gradient wrong in one place that is looked at.
TEST(SampledGradients, AWrongRowIsCaught) {
  const AttentionArrays arrays(
      filled_in({.heads = 2, .queries = 6, .head_width = 4, .causal = true}));
  const AttentionProblem problem = arrays.problem();
  const AttentionResult forward = attend(problem);
  const AttentionSaved saved{forward.output.view(), forward.lse.view()};
  const Tensor grad_output = random_array(DType::float32, arrays.q.shape(), 4);
  for (const char* wrong : {"none", "q", "k", "v"}) {
    AttentionGradientResult found = attend_backward(problem, saved, grad_output.view());
    AttentionGradients gradients;
    gradients.q = found.q.mutable_view();
    gradients.k = found.k.mutable_view();
    gradients.v = found.v.mutable_view();
    const auto check = [&] {
      return check_sampled_gradients(problem, saved, grad_output.view(), gradients);
    };
    if (wrong == std::string("none")) {
      EXPECT_LT(check(), 1e-5);
      continue;
    }
    Tensor& off = *wrong == 'q' ? found.q : *wrong == 'k' ? found.k : found.v;
    off.data<float>()[20] += 0.01f;
    EXPECT_THAT(check, ThrowsMessage<InternalError>(
                           HasSubstr("gradient of " + std::string(wrong) + " differs")));
  }
}

TEST(SampledRows, AllOfAFewAndTheEndsOfMany) {
  EXPECT_EQ(sampled_rows(2, 3, 4).size(), 24u);
  EXPECT_TRUE(sampled_rows(2, 0, 4).empty());
  bool first = false, last = false;
  const std::vector<SampledRow> rows = sampled_rows(2, 3, 1000);
  EXPECT_EQ(rows.size(), 24u);
  for (const SampledRow& row : rows) {
    EXPECT_LT(row.batch, 2);
    EXPECT_LT(row.head, 3);
    first = first || row.index == 0;
    last = last || row.index == 999;
  }
  EXPECT_TRUE(first && last);
  // Every place of a small array, each once.
  std::vector<int> seen(24, 0);
  for (const SampledRow& row : sampled_rows(2, 3, 4)) {
    ++seen[static_cast<std::size_t>((row.batch * 3 + row.head) * 4 + row.index)];
  }
  EXPECT_THAT(seen, testing::Each(1));
}

}  // namespace
}  // namespace volvelle
