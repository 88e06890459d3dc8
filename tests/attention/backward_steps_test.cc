#include "volvelle/attention/backward_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/arrays.h"
#include "support/naive_attention.h"
#include "support/naive_gradients.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/base/error.h"

namespace volvelle::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

void expect_near(const Tensor& step, const std::vector<double>& right, double tolerance) {
  const std::vector<double> values = values_of(step.view());
  ASSERT_EQ(values.size(), right.size());
  for (std::size_t n = 0; n < right.size(); ++n) ASSERT_NEAR(values[n], right[n], tolerance) << n;
}

/// B 2, H 4, G 2, T 5, S 7, D = E = 3; top-left causal, so that row 0 sees one key.
class BackwardSteps : public ::testing::Test {
 protected:
  NaiveAttention naive_ = NaiveAttention::random(2, 4, 2, 5, 7, 3, 31);
  std::vector<float> grad_output_ = random_numbers(2 * 4 * 5 * 3, 32);
  AttentionProblem problem_ = naive_.problem();

  void SetUp() override {
    naive_.seen = [](auto, auto, auto i, auto j) { return j <= i; };
    naive_.cap = 1.5;
    problem_.causal = true;
    problem_.alignment = Alignment::top_left;
    problem_.softcap = 1.5;
  }
  View back() const { return View(grad_output_.data(), {2, 4, 5, 3}); }
  AttentionBackwardSteps steps() const {
    return attention_backward_steps(problem_, attention_steps(problem_), back());
  }
};

TEST_F(BackwardSteps, AreThoseOfPlainLoops) {
  const NaiveGradients right = naive_gradients(naive_, grad_output_);
  const AttentionBackwardSteps made = steps();
  EXPECT_EQ(made.grad_scores.dtype(), DType::float32);
  expect_near(made.grad_scores, right.scores, 2e-6);
}

// What is multiplied out of them is what attend_backward gives.
TEST_F(BackwardSteps, LeadToTheGradients) {
  for (const double dropout : {0.0, 0.4}) {
    problem_.dropout = dropout;
    problem_.dropout_seed = 5;
    const AttentionBackwardSteps made = steps();
    const AttentionResult forward = attend(problem_);
    const AttentionGradientResult right =
        attend_backward(problem_, {forward.output.view(), forward.lse.view()}, back(),
                        AttentionGradientRequest{}, {.path = AttentionPath::oracle});
    std::vector<double> q(2 * 4 * 5 * 3);
    const float* products = made.grad_products.data<float>();
    for (std::size_t plane = 0; plane < 8; ++plane) {
      for (std::size_t i = 0; i < 5; ++i) {
        for (std::size_t j = 0; j < 7; ++j) {
          for (std::size_t d = 0; d < 3; ++d) {
            q[(plane * 5 + i) * 3 + d] +=
                static_cast<double>(products[(plane * 5 + i) * 7 + j]) *
                static_cast<double>(naive_.k[(plane / 2 * 7 + j) * 3 + d]);
          }
        }
      }
    }
    expect_near(right.q, q, 3e-6);
  }
}

TEST_F(BackwardSteps, DeltaIsGradOutputTimesOutputAndRowsSumToZero) {
  const AttentionSteps forward = attention_steps(problem_);
  const AttentionBackwardSteps made = attention_backward_steps(problem_, forward, back());
  const float* output = forward.output.data<float>();
  for (std::size_t row = 0; row < 40; ++row) {
    double product = 0, sum = 0;
    for (std::size_t e = 0; e < 3; ++e) {
      product +=
          static_cast<double>(grad_output_[row * 3 + e]) * static_cast<double>(output[row * 3 + e]);
    }
    for (std::size_t j = 0; j < 7; ++j) {
      sum += static_cast<double>(made.grad_scores.data<float>()[row * 7 + j]);
    }
    EXPECT_NEAR(static_cast<double>(made.delta.data<float>()[row]), product, 2e-6);
    EXPECT_NEAR(sum, 0, 1e-6);
  }
}

TEST_F(BackwardSteps, WhatIsHiddenDoesNotLeak) {
  const AttentionBackwardSteps before = steps();
  for (std::size_t n = 0; n < naive_.v.size(); ++n) {
    if (n / 3 % 7 >= 5) naive_.v[n] = std::numeric_limits<float>::quiet_NaN();  // seen by none
  }
  const AttentionBackwardSteps after = steps();
  EXPECT_EQ(values_of(before.grad_products.view()), values_of(after.grad_products.view()));
  EXPECT_EQ(values_of(after.grad_weights.view())[5], 0);
}

TEST_F(BackwardSteps, ARowThatSeesNoKeyIsZero) {
  const std::int64_t offset[] = {-1, -1};
  problem_.alignment = Alignment::bottom_right;
  problem_.query_offset = View(offset, {2});
  grad_output_[0] = std::numeric_limits<float>::infinity();
  const std::vector<double> scores = values_of(steps().grad_scores.view());
  for (std::size_t j = 0; j < 7; ++j) EXPECT_EQ(scores[j], 0);
}

TEST_F(BackwardSteps, WhatDoesNotFitIsRefused) {
  const AttentionSteps forward = attention_steps(problem_);
  const auto refused = [&](const AttentionSteps& steps, const View& grad_output,
                           std::size_t limit = 1 << 20) {
    return [&, limit] { attention_backward_steps(problem_, steps, grad_output, limit); };
  };
  EXPECT_THAT(refused(forward, View()), ThrowsMessage<InvalidArgument>(HasSubstr("absent")));
  EXPECT_THAT(refused(forward, View(grad_output_.data(), {2, 4, 3, 5})),
              ThrowsMessage<InvalidArgument>(HasSubstr("(B,H,T,E) = (2,4,5,3), not float32 "
                                                       "(2,4,3,5)")));
  EXPECT_THAT(refused(forward, back(), 100),
              ThrowsMessage<InvalidArgument>(HasSubstr("above the limit of 100")));
  AttentionProblem other = problem_;
  other.softcap = 0;
  const AttentionSteps uncapped = attention_steps(other);
  EXPECT_THAT(refused(uncapped, back()),
              ThrowsMessage<InvalidArgument>(HasSubstr("not those of this problem")));
}

}  // namespace
}  // namespace volvelle::testing
