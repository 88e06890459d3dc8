// Which path goes back, said before and after the way there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/naive_attention.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/attention/simd.h"
#include "volvelle/base/error.h"

namespace volvelle::testing {
namespace {

using ::testing::HasSubstr;

class ExplainBackward : public ::testing::Test {
 protected:
  NaiveAttention naive_ = NaiveAttention::random(1, 2, 2, 5, 7, 4, 3);
  std::vector<float> grad_output_ = random_numbers(2 * 5 * 4, 4);
  View back_ = View(grad_output_.data(), {1, 2, 5, 4});

  AttentionBackwardPlan plan(const AttentionProblem& problem,
                             const AttentionOptions& options = {}) const {
    const AttentionResult forward = attend(problem);
    return explain_backward(problem, {forward.output.view(), forward.lse.view()}, back_, options);
  }
};

TEST_F(ExplainBackward, NamesThePathAndWhatItRunsOn) {
  const AttentionProblem problem = naive_.problem();
  EXPECT_EQ(plan(problem).path, AttentionPath::fused);
  EXPECT_EQ(plan(problem).simd, simd_target());
  const AttentionBackwardPlan oracle = plan(problem, {.path = AttentionPath::oracle});
  EXPECT_EQ(oracle.path, AttentionPath::oracle);
  EXPECT_EQ(oracle.reason, "asked for");
  EXPECT_EQ(oracle.simd, "double loops");
  EXPECT_EQ(explain_backward(problem, {.path = AttentionPath::composed}).simd, "plain loops");
}

// Only what was saved shows that its numbers are too coarse.
TEST_F(ExplainBackward, ReadsTheSavedLogSumExp) {
  const float far = -1e6f;
  AttentionProblem problem = naive_.problem();
  problem.bias = View(&far, {1, 1});
  EXPECT_EQ(explain_backward(problem).path, AttentionPath::fused);
  const AttentionBackwardPlan coarse = plan(problem);
  EXPECT_EQ(coarse.path, AttentionPath::composed);
  EXPECT_THAT(coarse.reason, HasSubstr("too coarse"));
  EXPECT_THROW(plan(problem, {.path = AttentionPath::fused}), Unsupported);
}

TEST_F(ExplainBackward, RefusesWhatDoesNotFit) {
  const AttentionProblem problem = naive_.problem();
  EXPECT_THROW(explain_backward(problem, {View(), View()}, back_), InvalidArgument);
  AttentionProblem odd = problem;
  odd.q = View();
  EXPECT_THROW(explain_backward(odd), InvalidArgument);
}

}  // namespace
}  // namespace volvelle::testing
