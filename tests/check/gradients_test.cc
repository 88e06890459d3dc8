// Each known mistake of a backward pass is made by loops of the test's own, and must be named; and
// nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "support/naive_attention.h"
#include "support/naive_gradients.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/base/error.h"
#include "volvelle/check/expect_gradients.h"

namespace volvelle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

/// B 2, H 4, G 2, T 7, S 9, D 5: no two lengths equal, so that no two faults are.
class Gradients : public testing::Test {
 protected:
  NaiveAttention right_ = NaiveAttention::random(2, 4, 2, 7, 9, 5, 11);
  std::vector<float> grad_output_ = random_numbers(2 * 4 * 7 * 5, 77);
  std::vector<float> bias_, q_, k_, v_;

  View back() const { return View(grad_output_.data(), {2, 4, 7, 5}); }
  View of_q() const { return View(q_.data(), {2, 4, 7, 5}); }
  View of_k() const { return View(k_.data(), {2, 2, 9, 5}); }
  View of_v() const { return View(v_.data(), {2, 2, 9, 5}); }

  // A bias (1,4,7,9), on both sides.
  AttentionProblem with_bias() {
    bias_ = random_numbers(4 * 7 * 9, 5);
    right_.bias = [this](auto, auto h, auto i, auto j) {
      return static_cast<double>(bias_[static_cast<std::size_t>((h * 7 + i) * 9 + j)]);
    };
    AttentionProblem problem = right_.problem();
    problem.bias = View(bias_.data(), {1, 4, 7, 9});
    return problem;
  }

  // q, k and v of a foreign program: of another attention, or with mistakes.
  ExpectedGradients made(const NaiveAttention& theirs, const NaiveMistakes& mistakes = {}) {
    const NaiveGradients gradients = naive_gradients(theirs, grad_output_, mistakes);
    q_ = as_floats(gradients.q);
    k_ = summed_over_groups(theirs, gradients.k_by_head);
    v_ = summed_over_groups(theirs, gradients.v_by_head);
    return {.q = of_q(), .k = of_k(), .v = of_v()};
  }

  AttentionGradientResult ours(const AttentionProblem& problem) const {
    const AttentionResult forward = attend(problem);
    return attend_backward(problem, {forward.output.view(), forward.lse.view()}, back());
  }
  GradientReport report(const AttentionProblem& problem, const ExpectedGradients& theirs) const {
    return check_expected_gradients(problem, {back(), ours(problem)}, theirs);
  }
};

std::vector<std::string> named(const GradientReport& report) {
  std::vector<std::string> names;
  for (const Diagnosis& one : report.diagnosis) names.push_back(one.fault);
  return names;
}

void expect_one(const GradientReport& report, const std::string& fault, const std::string& says) {
  EXPECT_FALSE(report.matches);
  ASSERT_THAT(named(report), ElementsAre(fault));
  EXPECT_THAT(report.diagnosis[0].sentence, HasSubstr(says));
  EXPECT_THAT(report.not_tried, IsEmpty());
}

bool causal(std::int64_t i, std::int64_t j) { return j <= i + 2; }

TEST_F(Gradients, TheRightOnesMatchAndAreNotDiagnosed) {
  const GradientReport found = report(right_.problem(), made(right_));
  EXPECT_TRUE(found.matches);
  EXPECT_THAT(found.diagnosis, IsEmpty());
  ASSERT_EQ(found.gradients.size(), 3u);
  EXPECT_EQ(found.gradients[1].name, "grad_k");
  EXPECT_LT(found.gradients[1].comparison.max_abs, 1e-5);
}

TEST_F(Gradients, AnySubsetIsCompared) {
  made(right_);
  const GradientReport found = report(right_.problem(), {.v = of_v()});
  EXPECT_TRUE(found.matches);
  ASSERT_EQ(found.gradients.size(), 1u);
  EXPECT_EQ(found.gradients[0].name, "grad_v");
}

TEST_F(Gradients, AForeignElementIsNotNamed) {
  const ExpectedGradients theirs = made(right_);
  q_[17] += 0.01f;
  const GradientReport found = report(right_.problem(), theirs);
  EXPECT_FALSE(found.matches);
  EXPECT_THAT(found.diagnosis, IsEmpty());
  EXPECT_EQ(found.gradients[0].comparison.failing, 1);
  EXPECT_TRUE(found.gradients[1].comparison.matches);
}

TEST_F(Gradients, TheScaleMissing) {
  expect_one(report(right_.problem(), made(right_, {.scale = false})), "scale_missing",
             "your grad_q and grad_k equal ours without the factor scale, 0.4472");
}

TEST_F(Gradients, ArraysThatServeEveryBatchRow) {
  std::vector<std::int32_t> queries(7, 0), keys(9, 0);
  for (std::size_t i = 4; i < 7; ++i) queries[i] = 1;
  for (std::size_t j = 5; j < 9; ++j) keys[j] = 1;
  right_.seen = [&](auto, auto, auto i, auto j) {
    return queries[static_cast<std::size_t>(i)] == keys[static_cast<std::size_t>(j)];
  };
  AttentionProblem problem = right_.problem();
  problem.query_segments = View(queries.data(), {7});
  problem.key_segments = View(keys.data(), {9});
  EXPECT_TRUE(report(problem, made(right_)).matches);
  expect_one(report(problem, made(right_, {.delta = false})), "delta_missing", "delta");
}

TEST_F(Gradients, TheScaleMissingFromOneOnly) {
  made(right_, {.scale = false});
  const std::vector<float> k = k_;
  made(right_);
  k_ = k;
  expect_one(report(right_.problem(), {.q = of_q(), .k = of_k(), .v = of_v()}), "scale_missing",
             "your grad_k equals ours without");
}

TEST_F(Gradients, TheScaleTwice) {
  made(right_);
  for (float& value : q_) value *= static_cast<float>(right_.scale);
  expect_one(report(right_.problem(), {.q = of_q(), .k = of_k(), .v = of_v()}), "scale_twice",
             "used twice");
}

TEST_F(Gradients, DeltaMissing) {
  expect_one(report(right_.problem(), made(right_, {.delta = false})), "delta_missing",
             "your grad_q and grad_k equal ours without delta");
  made(right_, {.delta = false});
  expect_one(report(right_.problem(), {.k = of_k()}), "delta_missing", "your grad_k equals ours");
}

TEST_F(Gradients, TheSlopeOfTheCapMissing) {
  right_.cap = 1.5;
  AttentionProblem problem = right_.problem();
  problem.softcap = 1.5;
  EXPECT_TRUE(report(problem, made(right_)).matches);
  expect_one(report(problem, made(right_, {.cap_slope = false})), "cap_slope_missing",
             "your grad_q and grad_k equal ours without the slope of the soft cap");
}

TEST_F(Gradients, TheSinkMissingOnTheWayBack) {
  right_.sinks = {0.5, -1, 1, 0.25};
  const std::vector<float> sinks{0.5f, -1, 1, 0.25f};
  AttentionProblem problem = right_.problem();
  problem.sinks = View(sinks.data(), {4});
  EXPECT_TRUE(report(problem, made(right_)).matches);
  const GradientReport found = report(problem, made(right_, {.sink = false}));
  EXPECT_FALSE(found.matches);
  // With the weights of a forward pass without sink it is the same as one.
  EXPECT_THAT(named(found), testing::Contains("sink_missing"));
}

TEST_F(Gradients, OfSinks) {
  right_.sinks = {0.5, -1, 1, 0.25};
  const std::vector<float> sinks{0.5f, -1, 1, 0.25f};
  AttentionProblem problem = right_.problem();
  problem.sinks = View(sinks.data(), {4});
  std::vector<float> theirs = as_floats(naive_gradients(right_, grad_output_).sinks);
  EXPECT_TRUE(report(problem, {.sinks = View(theirs.data(), {4})}).matches);
  for (float& value : theirs) value = -value;
  expect_one(report(problem, {.sinks = View(theirs.data(), {4})}), "gradient_sign",
             "your grad_sinks equals ours with the sign turned");
  for (float& value : theirs) value = 0;
  expect_one(report(problem, {.sinks = View(theirs.data(), {4})}), "gradient_zero",
             "was not computed");
}

TEST_F(Gradients, KeyHeadsNotSummedShowInTheirShape) {
  const NaiveGradients gradients = naive_gradients(right_, grad_output_);
  const std::vector<float> k = as_floats(gradients.k_by_head);
  expect_one(report(right_.problem(), {.k = View(k.data(), {2, 4, 9, 5})}), "key_heads_not_summed",
             "one gradient for each of the H=4 query heads; summed over the 2");
}

TEST_F(Gradients, OneQueryHeadOfAGroupAlone) {
  const NaiveGradients gradients = naive_gradients(right_, grad_output_);
  for (const std::size_t kept : {0u, 1u}) {
    std::vector<double> k = gradients.k_by_head;
    for (std::size_t n = 0; n < k.size(); ++n) {
      if (n / 45 % 2 != kept) k[n] = 0;
    }
    k_ = summed_over_groups(right_, k);
    expect_one(report(right_.problem(), {.k = of_k()}), "key_heads_not_summed",
               kept == 0 ? "the first query head of each group alone"
                         : "the last query head of each group alone");
  }
}

TEST_F(Gradients, KeyHeadsAveraged) {
  made(right_);
  for (std::vector<float>* part : {&k_, &v_}) {
    for (float& value : *part) value /= 2;
  }
  expect_one(report(right_.problem(), {.q = of_q(), .k = of_k(), .v = of_v()}),
             "key_heads_averaged", "your grad_k and grad_v equal ours averaged, not summed, over");
}

TEST_F(Gradients, ABiasNotSummedShowsInItsShape) {
  const AttentionProblem problem = with_bias();
  const std::vector<float> scores = as_floats(naive_gradients(right_, grad_output_).scores);
  expect_one(report(problem, {.bias = View(scores.data(), {2, 4, 7, 9})}), "bias_not_summed",
             "summed over batch, along which the bias was broadcast, it equals ours");
}

TEST_F(Gradients, ABiasSummedAveragedOrOfOneBatchRow) {
  const AttentionProblem problem = with_bias();
  const std::vector<double> scores = naive_gradients(right_, grad_output_).scores;
  const std::size_t half = scores.size() / 2;
  std::vector<float> sums, means, first, last;
  for (std::size_t n = 0; n < half; ++n) {
    sums.push_back(static_cast<float>(scores[n] + scores[n + half]));
    means.push_back(static_cast<float>((scores[n] + scores[n + half]) / 2));
    first.push_back(static_cast<float>(scores[n]));
    last.push_back(static_cast<float>(scores[n + half]));
  }
  const auto of = [&](const std::vector<float>& values) {
    return report(problem, {.bias = View(values.data(), {1, 4, 7, 9})});
  };
  EXPECT_TRUE(of(sums).matches);
  expect_one(of(means), "bias_averaged", "averaged, not summed, over the 2 places");
  expect_one(of(first), "bias_not_summed", "the first place alone");
  expect_one(of(last), "bias_not_summed", "at the last head or batch row alone");
}

TEST_F(Gradients, OfABiasThatAllQueriesShare) {
  const std::vector<float> bias = random_numbers(9, 3);
  right_.bias = [&](auto, auto, auto, auto j) {
    return static_cast<double>(bias[static_cast<std::size_t>(j)]);
  };
  AttentionProblem problem = right_.problem();
  problem.bias = View(bias.data(), {9});
  const std::vector<double> scores = naive_gradients(right_, grad_output_).scores;
  std::vector<double> sums(9), heads(4 * 9);
  for (std::size_t n = 0; n < scores.size(); ++n) {
    sums[n % 9] += scores[n];
    heads[n / 63 % 4 * 9 + n % 9] += scores[n];
  }
  const std::vector<float> right = as_floats(sums);
  const std::vector<float> wrong = as_floats(heads);
  EXPECT_TRUE(report(problem, {.bias = View(right.data(), {9})}).matches);
  expect_one(report(problem, {.bias = View(wrong.data(), {1, 4, 1, 9})}), "bias_not_summed",
             "summed over heads, along");
}

TEST_F(Gradients, OfSlopesAndTables) {
  const std::vector<float> slopes{0.5f, 0.25f, 0.125f, 0.0625f};
  const std::vector<float> table = random_numbers(4 * 5, 8);
  const auto entry = [](auto i, auto j) { return std::clamp<std::int64_t>(j - i - 2, -2, 2) + 2; };
  right_.bias = [&](auto, auto h, auto i, auto j) {
    const auto head = static_cast<std::size_t>(h);
    return static_cast<double>(table[head * 5 + static_cast<std::size_t>(entry(i, j))]) -
           static_cast<double>(slopes[head]) * static_cast<double>(std::abs(i + 2 - j));
  };
  AttentionProblem problem = right_.problem();
  problem.slopes = View(slopes.data(), {4});
  problem.bias_table = View(table.data(), {4, 5});
  const std::vector<double> scores = naive_gradients(right_, grad_output_).scores;
  std::vector<double> of_slopes(4), of_table(4 * 5);
  for (std::size_t n = 0; n < scores.size(); ++n) {
    const auto j = static_cast<std::int64_t>(n % 9), i = static_cast<std::int64_t>(n / 9 % 7);
    const std::size_t head = n / 63 % 4;
    of_slopes[head] -= scores[n] * static_cast<double>(std::abs(i + 2 - j));
    of_table[head * 5 + static_cast<std::size_t>(entry(i, j))] += scores[n];
  }
  std::vector<float> s = as_floats(of_slopes);
  std::vector<float> t = as_floats(of_table);
  const ExpectedGradients theirs{.slopes = View(s.data(), {4}),
                                 .bias_table = View(t.data(), {4, 5})};
  EXPECT_TRUE(report(problem, theirs).matches);
  for (float& value : s) value = -value;
  expect_one(report(problem, theirs), "slope_gradient_sign", "your grad_slopes equals ours with");
  for (float& value : s) value = -value;
  problem.causal = true;  // which the file's backward pass does not know
  expect_one(report(problem, theirs), "causal_missing",
             "your grad_slopes and grad_bias_table equal those of attention without the causal");
}

TEST_F(Gradients, ALossThatIsAMeanScalesThemAll) {
  made(right_);
  for (std::vector<float>* part : {&q_, &k_, &v_}) {
    for (float& value : *part) value /= 280;
  }
  expect_one(report(right_.problem(), {.q = of_q(), .k = of_k(), .v = of_v()}),
             "grad_output_scaled", "as by the mean over all 280 outputs");
}

TEST_F(Gradients, AnUnknownFactorIsSaid) {
  made(right_);
  for (float& value : v_) value *= 3;
  expect_one(report(right_.problem(), {.q = of_q(), .k = of_k(), .v = of_v()}), "gradient_scaled",
             "your grad_v equals ours times 3");
}

TEST_F(Gradients, ExchangedOnes) {
  made(right_);
  expect_one(report(right_.problem(), {.k = of_v(), .v = of_v()}), "gradients_exchanged",
             "your grad_k equals our grad_v");
}

TEST_F(Gradients, ThoseOfAnotherAttentionAreNamed) {
  NaiveAttention masked = right_;
  masked.seen = [](auto, auto, auto i, auto j) { return causal(i, j); };
  AttentionProblem problem = right_.problem();
  problem.causal = true;
  EXPECT_TRUE(report(problem, made(masked)).matches);
  expect_one(report(problem, made(right_)), "causal_missing",
             "your grad_q, grad_k and grad_v equal those of attention without the causal mask");
  problem.window = 3;
  masked.seen = [](auto, auto, auto i, auto j) { return causal(i, j) && j > i + 2 - 4; };
  made(masked);
  expect_one(report(problem, {.k = of_k()}), "window_one_more",
             "your grad_k equals that of attention with window 4");
}

TEST_F(Gradients, AForgottenBiasIsNamed) {
  const AttentionProblem problem = with_bias();
  NaiveAttention without = right_;
  without.bias = [](auto, auto, auto, auto) { return 0.0; };
  expect_one(report(problem, made(without)), "bias_ignored", "without the bias");
}

TEST_F(Gradients, TwoMistakesAreBothNamed) {
  made(right_, {.scale = false});
  for (float& value : v_) value = -value;
  const GradientReport found = report(right_.problem(), {.q = of_q(), .k = of_k(), .v = of_v()});
  EXPECT_THAT(named(found), UnorderedElementsAre("scale_missing", "gradient_sign"));
}

TEST_F(Gradients, AxesInAnotherOrderAreNamed) {
  made(right_);
  std::vector<float> turned(q_.size());
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t h = 0; h < 4; ++h) {
      for (std::size_t t = 0; t < 7; ++t) {
        for (std::size_t d = 0; d < 5; ++d) {
          turned[((b * 7 + t) * 4 + h) * 5 + d] = q_[((b * 4 + h) * 7 + t) * 5 + d];
        }
      }
    }
  }
  expect_one(report(right_.problem(), {.q = View(turned.data(), {2, 7, 4, 5})}), "layout",
             "your grad_q has its axes in (B,T,H,D) order");
}

// A row that sees one key has no gradient but what rounding leaves: that is no difference.
TEST_F(Gradients, WhatCancelsIsNotCompared) {
  NaiveAttention single = NaiveAttention::random(1, 1, 1, 6, 1, 16, 3);
  grad_output_ = random_numbers(6 * 16, 8);
  const AttentionProblem problem = single.problem();
  const View back(grad_output_.data(), {1, 1, 6, 16});
  const AttentionResult forward = attend(problem);
  const AttentionGradientResult ours =
      attend_backward(problem, {forward.output.view(), forward.lse.view()}, back);
  std::vector<float> noise(6 * 16, 3e-7f);
  EXPECT_TRUE(
      check_expected_gradients(problem, {back, ours}, {.q = View(noise.data(), {1, 1, 6, 16})})
          .matches);
  noise[5] = 0.01f;
  EXPECT_FALSE(
      check_expected_gradients(problem, {back, ours}, {.q = View(noise.data(), {1, 1, 6, 16})})
          .matches);
}

// Ours is spoilt here: the file is right, and the oracle says so.
TEST_F(Gradients, OurOwnFaultIsNotBlamedOnTheFile) {
  const AttentionProblem problem = right_.problem();
  AttentionGradientResult spoilt = ours(problem);
  spoilt.k.data<float>()[33] += 0.01f;
  const GradientReport found = check_expected_gradients(problem, {back(), spoilt}, made(right_));
  EXPECT_THAT(named(found), ElementsAre("none"));
}

TEST_F(Gradients, OnEitherSideOfTheOracleIsRounding) {
  const AttentionProblem problem = right_.problem();
  AttentionGradientResult near = ours(problem);
  ExpectedGradients theirs = made(right_);
  theirs.atol = 1e-4;
  theirs.rtol = 0;
  near.k.data<float>()[33] += 0.9e-4f;
  k_[33] -= 0.9e-4f;
  const GradientReport found = check_expected_gradients(problem, {back(), near}, theirs);
  EXPECT_FALSE(found.matches);
  EXPECT_THAT(named(found), ElementsAre("rounding"));
}

TEST_F(Gradients, DropoutThatIsIgnoredIsNamed) {
  AttentionProblem problem = right_.problem();
  problem.dropout = 0.3;
  problem.dropout_seed = 4;
  const GradientReport found = report(problem, made(right_));
  EXPECT_FALSE(found.matches);
  EXPECT_THAT(named(found), ElementsAre("dropout_ignored"));
  problem.dropout = 0;
  AttentionProblem same = problem;
  same.dropout_seed = 9;  // nothing is drawn
  EXPECT_TRUE(report(same, made(right_)).matches);
}

TEST_F(Gradients, EveryFaultHasItsOwnNameAndMeaning) {
  std::set<std::string> names;
  for (const std::vector<KnownFault>* list : {&known_faults(), &known_gradient_faults()}) {
    for (const KnownFault& fault : *list) {
      EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
      EXPECT_FALSE(std::string(fault.meaning).empty());
    }
  }
}

TEST_F(Gradients, GivenTolerancesDecide) {
  ExpectedGradients theirs = made(right_);
  for (float& value : q_) value += 0.001f;
  EXPECT_FALSE(report(right_.problem(), theirs).matches);
  theirs.atol = 0.0011;
  EXPECT_TRUE(report(right_.problem(), theirs).matches);
}

TEST_F(Gradients, WhatCannotBeComparedThrows) {
  const AttentionProblem problem = right_.problem();
  const std::vector<float> data(1000);
  const std::vector<std::int64_t> integers(280);
  EXPECT_THAT([&] { report(problem, {.q = View(data.data(), {2, 4, 7, 6})}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("grad_q is (2,4,7,6)")));
  EXPECT_THAT([&] { report(problem, {.bias = View(data.data(), {7, 9})}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("the problem has no bias")));
  EXPECT_THAT([&] { report(problem, {.q = View(integers.data(), {2, 4, 7, 5})}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("int64")));
  AttentionGradientResult none = ours(problem);
  none.v = Tensor();
  EXPECT_THAT(
      [&] {
        check_expected_gradients(problem, {back(), none}, {.v = View(data.data(), {2, 2, 9, 5})});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("none was computed")));
  EXPECT_THAT([&] { check_expected_gradients(problem, {View(), none}, {.q = View()}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("grad_output is absent")));
  EXPECT_THROW(report(problem, {.q = View(data.data(), {2, 4, 7, 5}), .rtol = -1}),
               InvalidArgument);
}

}  // namespace
}  // namespace volvelle
