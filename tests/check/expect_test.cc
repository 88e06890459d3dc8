#include "volvelle/check/expect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "support/naive_attention.h"
#include "volvelle/attention/attend.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

class Expect : public testing::Test {
 protected:
  NaiveAttention naive_ = NaiveAttention::random(2, 3, 3, 4, 6, 5, 21);
  AttentionProblem problem_ = naive_.problem();
  AttentionResult ours_ = attend(problem_);

  // The output with its axes (b,h,t,e) in the order given, e.g. {0, 2, 1, 3} for (B,T,H,E).
  std::vector<float> in_order(const int (&order)[4]) const {
    const std::int64_t shape[4] = {2, 3, 4, 5};
    const float* data = ours_.output.data<float>();
    std::vector<float> moved;
    std::int64_t index[4];
    for (index[order[0]] = 0; index[order[0]] < shape[order[0]]; ++index[order[0]]) {
      for (index[order[1]] = 0; index[order[1]] < shape[order[1]]; ++index[order[1]]) {
        for (index[order[2]] = 0; index[order[2]] < shape[order[2]]; ++index[order[2]]) {
          for (index[order[3]] = 0; index[order[3]] < shape[order[3]]; ++index[order[3]]) {
            moved.push_back(data[((index[0] * 3 + index[1]) * 4 + index[2]) * 5 + index[3]]);
          }
        }
      }
    }
    return moved;
  }
  ExpectReport report(const View& output, const View& lse = {}) const {
    Expected theirs;
    theirs.output = output;
    theirs.lse = lse;
    return check_expected(problem_, ours_, theirs);
  }
};

TEST_F(Expect, OurOwnAnswerMatches) {
  const ExpectReport same = report(ours_.output.view(), ours_.lse.view());
  EXPECT_TRUE(same.matches);
  ASSERT_TRUE(same.lse.has_value());
  EXPECT_TRUE(same.lse->matches);
  EXPECT_THAT(same.diagnosis, IsEmpty());
}

TEST_F(Expect, RowsFirstIsRecognisedByItsShape) {
  const std::vector<float> file = in_order({0, 2, 1, 3});
  const ExpectReport found = report(View(file.data(), {2, 4, 3, 5}));
  EXPECT_FALSE(found.matches);
  EXPECT_TRUE(found.output.matches);
  ASSERT_EQ(found.diagnosis.size(), 1u);
  EXPECT_EQ(found.diagnosis[0].fault, "layout");
  EXPECT_EQ(found.diagnosis[0].sentence,
            "your result equals attention with the output in (B,T,H,E) order, not (B,H,T,E)");
}

TEST_F(Expect, MergedHeadsSequenceFirstAndTurnedRowsAreRecognised) {
  std::vector<float> file = in_order({0, 2, 1, 3});
  EXPECT_THAT(report(View(file.data(), {2, 4, 15})).diagnosis[0].sentence, HasSubstr("(B,T,H*E)"));
  file = in_order({2, 0, 1, 3});
  EXPECT_THAT(report(View(file.data(), {4, 2, 15})).diagnosis[0].sentence, HasSubstr("(T,B,H*E)"));
  EXPECT_THAT(report(View(file.data(), {4, 2, 3, 5})).diagnosis[0].sentence,
              HasSubstr("(T,B,H,E)"));
  file = in_order({0, 1, 3, 2});
  EXPECT_THAT(report(View(file.data(), {2, 3, 5, 4})).diagnosis[0].sentence,
              HasSubstr("(B,H,E,T)"));
}

TEST_F(Expect, AnotherFaultIsFoundInTheOtherOrderToo) {
  problem_.scale = 1;
  ours_ = attend(problem_);
  const std::vector<float> file = in_order({0, 2, 1, 3});
  problem_.scale = std::nullopt;
  ours_ = attend(problem_);
  const ExpectReport found = report(View(file.data(), {2, 4, 3, 5}));
  ASSERT_EQ(found.diagnosis.size(), 2u);
  EXPECT_EQ(found.diagnosis[0].fault, "layout");
  EXPECT_THAT(found.diagnosis[0].sentence, HasSubstr("differs"));
  EXPECT_EQ(found.diagnosis[1].fault, "scale_absent");
}

TEST_F(Expect, PlacesUseTheAxesOfOurOutput) {
  const NaiveAttention small = NaiveAttention::random(1, 1, 1, 4, 6, 5, 3);
  AttentionProblem flat;
  flat.q = View(small.q.data(), {4, 5});
  flat.k = View(small.k.data(), {6, 5});
  flat.v = View(small.v.data(), {6, 5});
  const AttentionResult ours = attend(flat);
  std::vector<float> file(ours.output.data<float>(), ours.output.data<float>() + 20);
  file[7] += 1;
  Expected theirs;
  theirs.output = View(file.data(), {4, 5});
  EXPECT_THAT(check_expected(flat, ours, theirs).output.at, ElementsAre(1, 2));
}

TEST_F(Expect, ALogSumExpInBaseTwoIsNamed) {
  std::vector<float> lse(ours_.lse.data<float>(), ours_.lse.data<float>() + 24);
  for (float& value : lse) value /= std::numbers::ln2_v<float>;
  const ExpectReport found = report(ours_.output.view(), View(lse.data(), {2, 3, 4}));
  EXPECT_FALSE(found.matches);
  ASSERT_EQ(found.diagnosis.size(), 1u);
  EXPECT_EQ(found.diagnosis[0].fault, "lse_base_two");
}

TEST_F(Expect, ALogSumExpWithoutItsSinkIsNamed) {
  const std::vector<float> lse(ours_.lse.data<float>(), ours_.lse.data<float>() + 24);
  const float sinks[] = {0.5f, -1.0f, 1.0f};
  problem_.sinks = View(sinks, {3});
  ours_ = attend(problem_);
  const ExpectReport found = report(ours_.output.view(), View(lse.data(), {2, 3, 4}));
  ASSERT_EQ(found.diagnosis.size(), 1u);
  EXPECT_EQ(found.diagnosis[0].fault, "lse_without_sink");
}

TEST_F(Expect, GivenTolerancesDecide) {
  std::vector<float> file(ours_.output.data<float>(), ours_.output.data<float>() + 120);
  for (float& value : file) value += 0.001f;
  Expected theirs;
  theirs.output = View(file.data(), ours_.output.shape());
  EXPECT_FALSE(check_expected(problem_, ours_, theirs).matches);
  theirs.atol = 0.0011;
  EXPECT_TRUE(check_expected(problem_, ours_, theirs).matches);
}

TEST_F(Expect, WhatCannotBeComparedThrows) {
  const std::vector<float> data(120);
  const std::vector<std::int64_t> integers(120);
  EXPECT_THAT([&] { report(View()); },
              ThrowsMessage<InvalidArgument>(HasSubstr("no array `output`")));
  EXPECT_THAT([&] { report(View(integers.data(), {2, 3, 4, 5})); },
              ThrowsMessage<InvalidArgument>(HasSubstr("int64")));
  EXPECT_THAT([&] { report(View(data.data(), {5, 4, 3, 2})); },
              ThrowsMessage<InvalidArgument>(HasSubstr("(5,4,3,2)")));
  EXPECT_THROW(report(View(data.data(), {1, 1, 2, 3, 4})), InvalidArgument);
  EXPECT_THROW(report(ours_.output.view(), View(data.data(), {2, 4, 3})), InvalidArgument);
  ours_.lse = Tensor();
  EXPECT_THAT([&] { report(View(data.data(), {2, 3, 4, 5}), View(data.data(), {2, 3, 4})); },
              ThrowsMessage<InvalidArgument>(HasSubstr("none was computed")));
}

}  // namespace
}  // namespace volvelle
