// The tape: order, accumulation, sharing, what is freed when, and what it refuses.
#include "volvelle/autograd/tape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "ops/pass_on.h"
#include "support/arrays.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/in_place.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;
using testing::listed;
using testing::values_of;
using Values = std::vector<double>;

Variable leaf(const Values& values) {
  return Variable(listed(DType::float32, {static_cast<std::int64_t>(values.size())}, values), true);
}

// a + b, which needs nothing saved.
Variable sum_of(const Variable& a, const Variable& b) {
  Tensor out = copy_of(a.view());
  add_into(out.mutable_view(), b.view());
  return record("sum_of", out, {a, b}, [](GradientPass& pass) {
    Tensor gradient = pass.take_grad_output();
    pass_on(pass, 0, gradient);
    pass_on(pass, 1, std::move(gradient));
  });
}

// x * y, which saves both.
Variable product_of(const Variable& x, const Variable& y) {
  const Values a = values_of(x.view()), b = values_of(y.view());
  Values out;
  for (std::size_t i = 0; i < a.size(); ++i) out.push_back(a[i] * b[i]);
  return record("product_of", listed(x.dtype(), x.shape(), out), {x, y},
                [x = Saved(x), y = Saved(y)](GradientPass& pass) {
                  const Values g = values_of(pass.grad_output());
                  for (const int input : {0, 1}) {
                    if (!pass.wants(input)) continue;
                    const View other = (input == 0 ? y : x).view("product_of");
                    const Values factors = values_of(other);
                    Values share;
                    for (std::size_t i = 0; i < g.size(); ++i) share.push_back(g[i] * factors[i]);
                    pass_on(pass, input, listed(other.dtype(), other.shape(), share));
                  }
                });
}

// x, doubled in place on the way back where the gradient is nobody else's.
Variable doubled(const Variable& x, bool* in_place = nullptr) {
  Tensor out = copy_of(x.view());
  scale_in_place(out.mutable_view(), 2);
  return record("doubled", out, {x}, [in_place](GradientPass& pass) {
    Tensor gradient = pass.take_grad_output();
    if (in_place != nullptr) *in_place = !gradient.is_shared();
    if (gradient.is_shared()) gradient = copy_of(gradient.view());
    scale_in_place(gradient.mutable_view(), 2);
    pass_on(pass, 0, std::move(gradient));
  });
}

Values grad_of(const Variable& x) { return x.grad() ? values_of(x.grad().view()) : Values(); }

void back(const Variable& output, const Values& grad_output) {
  backward(output, listed(output.dtype(), output.shape(), grad_output).view());
}

TEST(Tape, GradientsComeThroughAndAddUpOverTwoPasses) {
  Variable x = leaf({2, 3}), y = leaf({5, 7});
  back(product_of(x, y), {1, 10});
  EXPECT_EQ(grad_of(x), (Values{5, 70}));
  EXPECT_EQ(grad_of(y), (Values{2, 30}));
  back(product_of(x, y), {1, 1});
  EXPECT_EQ(grad_of(x), (Values{10, 77}));
  x.clear_grad();
  EXPECT_FALSE(x.grad());
  back(product_of(x, y), {1, 1});
  EXPECT_EQ(grad_of(x), (Values{5, 7}));
  EXPECT_EQ(grad_of(y), (Values{6, 36}));
}

TEST(Tape, OneVariableMayBeSeveralInputs) {
  Variable x = leaf({2, 3});
  back(product_of(x, x), {1, 1});
  EXPECT_EQ(grad_of(x), (Values{4, 6}));
}

TEST(Tape, ALossOfOneElementStartsFromOne) {
  Variable x = leaf({3});
  backward(product_of(x, x));
  EXPECT_EQ(grad_of(x), (Values{6}));
}

// x + branch(x), twice over: the gradient of the stream is handed on and shared on the way.
TEST(Tape, ResidualStreamsShareGradientsAndNeverWriteIntoOneAnothers) {
  Variable x = leaf({1, 1});
  bool first_in_place = true, second_in_place = true;
  const Variable middle = sum_of(x, doubled(x, &first_in_place));
  const Variable out = sum_of(middle, doubled(middle, &second_in_place));
  back(out, {1, 100});
  EXPECT_EQ(grad_of(x), (Values{9, 900}));
  EXPECT_FALSE(second_in_place);  // the stream holds the same tensor while its branch runs
  EXPECT_TRUE(first_in_place);    // the leaf took a copy
}

TEST(Tape, AGradientThatNobodyElseHoldsIsWrittenInPlace) {
  Variable x = leaf({1, 1});
  bool in_place = false;
  back(doubled(doubled(x, &in_place)), {1, 2});
  EXPECT_TRUE(in_place);
  EXPECT_EQ(grad_of(x), (Values{4, 8}));
}

// Who clips one leaf's gradient in place must not clip another's with it.
TEST(Tape, LeavesNeverShareAGradient) {
  Variable x = leaf({1, 1}), y = leaf({2, 2});
  back(sum_of(x, y), {3, 4});
  Tensor gradient = x.grad();
  scale_in_place(gradient.mutable_view(), 10);
  EXPECT_EQ(grad_of(x), (Values{30, 40}));
  EXPECT_EQ(grad_of(y), (Values{3, 4}));
}

TEST(Tape, AGradientThatACallerHoldsStaysAsItWas) {
  Variable x = leaf({1, 1});
  back(doubled(x), {1, 1});
  const Tensor before = x.grad();
  back(doubled(x), {1, 1});
  EXPECT_EQ(values_of(before.view()), (Values{2, 2}));
  EXPECT_EQ(grad_of(x), (Values{4, 4}));
}

TEST(Tape, WhatWasKeptByRetainGradIsNotWrittenOver) {
  Variable x = leaf({1, 1});
  Variable middle = doubled(x);
  middle.retain_grad();
  back(doubled(middle), {1, 3});
  EXPECT_EQ(grad_of(middle), (Values{2, 6}));
  EXPECT_EQ(grad_of(x), (Values{4, 12}));
}

TEST(Tape, OfResultsOnlyThoseAskedForKeepTheirGradient) {
  Variable x = leaf({1, 1});
  const Variable middle = doubled(x);
  Variable out = doubled(middle);
  out.retain_grad();
  back(out, {1, 1});
  EXPECT_FALSE(middle.grad());
  EXPECT_EQ(grad_of(out), (Values{1, 1}));
}

TEST(Tape, BoundStorageIsOverwrittenFirstAndAddedToThen) {
  Tensor flat = listed(DType::float32, {5}, {99, 99, 99, 99, 99});
  const std::shared_ptr<void> owner(flat.raw(), [flat](void*) {});
  const auto part = [&](std::int64_t first) {
    return Tensor::adopt(owner, flat.data<float>() + first, DType::float32, {2});
  };
  Variable x = leaf({1, 1}), y = leaf({2, 3});
  x.bind_grad(part(0));
  y.bind_grad(part(2));
  back(sum_of(x, product_of(x, y)), {1, 10});
  EXPECT_EQ(values_of(flat.view()), (Values{3, 40, 1, 10, 99}));
  back(product_of(x, y), {1, 1});
  EXPECT_EQ(values_of(flat.view()), (Values{5, 43, 2, 11, 99}));
  x.clear_grad();
  EXPECT_FALSE(x.grad());
  back(sum_of(x, x), {1, 1});
  EXPECT_EQ(values_of(flat.view()), (Values{2, 2, 2, 11, 99}));
  EXPECT_EQ(x.grad().raw(), flat.raw());
}

TEST(Tape, NothingIsRecordedWithoutNeed) {
  Variable x = leaf({1, 1});
  const Variable constant(listed(DType::float32, {2}, {1, 2}));
  EXPECT_FALSE(sum_of(constant, constant).requires_grad());
  EXPECT_TRUE(sum_of(constant, x).requires_grad());
  EXPECT_TRUE(is_recording({&constant, &x}));
  const NoGrad off;
  EXPECT_FALSE(is_grad_enabled());
  EXPECT_FALSE(is_recording({&constant, &x}));
  EXPECT_TRUE(sum_of(x, x).is_leaf());
  {
    const WithGrad on;
    EXPECT_TRUE(sum_of(x, x).requires_grad());
    const NoGrad again;
    EXPECT_FALSE(is_grad_enabled());
  }
  EXPECT_FALSE(is_grad_enabled());
}

TEST(Tape, ConstantsAndLeavesThatWereToldOffGetNothing) {
  Variable x = leaf({1, 1}), y = leaf({2, 3});
  const Variable constant(listed(DType::float32, {2}, {5, 5}));
  const Variable out = product_of(product_of(x, constant), y);
  y.set_requires_grad(false);
  back(out, {1, 1});
  EXPECT_EQ(grad_of(x), (Values{10, 15}));
  EXPECT_FALSE(y.grad());
  EXPECT_FALSE(constant.grad());
}

// An operator that needs no numbers keeps none: only its result is alive.
TEST(Tape, NumbersThatNobodySavedAreFreedInTheForwardPass) {
  Variable x = leaf({1, 1});
  Tensor middle_value;
  Variable out;
  {
    const Variable middle = doubled(x);
    middle_value = middle.value();
    out = doubled(middle);
    EXPECT_TRUE(middle_value.is_shared());
  }
  EXPECT_FALSE(middle_value.is_shared());
  back(out, {1, 1});
  EXPECT_EQ(grad_of(x), (Values{4, 4}));
}

TEST(Tape, WhatWasSavedIsFreedAsTheWayBackPassesIt) {
  Variable x = leaf({2, 3});
  Tensor early, late;
  bool early_held = false, late_freed = false;
  // Looks at both from between them.
  const auto spy = [&](const Variable& input) {
    return record("spy", copy_of(input.view()), {input}, [&](GradientPass& pass) {
      early_held = early.is_shared();
      late_freed = !late.is_shared();
      pass_on(pass, 0, pass.take_grad_output());
    });
  };
  Variable out;
  {
    const Variable first = doubled(x);
    const Variable second = spy(product_of(first, first));
    out = product_of(second, second);
    early = first.value();
    late = second.value();
  }
  EXPECT_TRUE(late.is_shared());
  back(out, {1, 1});
  EXPECT_TRUE(early_held);
  EXPECT_TRUE(late_freed);
  EXPECT_FALSE(early.is_shared());
}

TEST(Tape, IsFollowedOnce) {
  Variable x = leaf({2, 3});
  const Variable middle = product_of(x, x);
  const Variable out = doubled(middle);
  back(out, {1, 1});
  EXPECT_THROW(back(out, {1, 1}), InvalidArgument);
  EXPECT_THROW(back(middle, {1, 1}), InvalidArgument);
  try {
    back(doubled(middle), {1, 1});
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("already followed"));
    EXPECT_THAT(error.what(), HasSubstr("product_of"));
  }
  EXPECT_EQ(grad_of(x), (Values{8, 12}));
}

TEST(Tape, AFailureLeavesNothingForALaterPass) {
  Variable x = leaf({1, 1});
  bool fails = true;
  const auto fragile = [&](const Variable& a, const Variable& b) {
    return record("fragile", copy_of(a.view()), {a, b}, [&](GradientPass& pass) {
      Tensor gradient = pass.take_grad_output();
      pass_on(pass, 0, gradient);
      if (fails) throw std::runtime_error("in the middle");
      pass_on(pass, 1, gradient);
    });
  };
  const Variable a = doubled(x), b = doubled(x), beside = doubled(x);
  const Variable out = sum_of(beside, fragile(a, b));
  EXPECT_THROW(back(out, {1, 1}), std::runtime_error);
  EXPECT_FALSE(x.grad());  // nothing had come so far
  EXPECT_THROW(back(out, {1, 1}), InvalidArgument);
  fails = false;
  // a had a gradient, beside was waiting with one; neither may count again.
  back(fragile(a, b), {1, 1});
  EXPECT_EQ(grad_of(x), (Values{4, 4}));
  back(beside, {10, 10});
  EXPECT_EQ(grad_of(x), (Values{24, 24}));
}

TEST(Tape, LongChainsNeitherOverflowOnTheWayBackNorInDestruction) {
  constexpr int kLength = 100000;
  Variable x = leaf({1});
  const auto link = [](const Variable& input) {
    return record("link", input.value(), {input}, [input = Saved(input)](GradientPass& pass) {
      pass_on(pass, 0, pass.take_grad_output());
    });
  };
  Variable end = x;
  for (int i = 0; i < kLength; ++i) end = link(end);
  backward(end);
  EXPECT_EQ(grad_of(x), (Values{1}));
  end = x;
  for (int i = 0; i < kLength; ++i) end = link(end);
  end = {};  // never followed
  end = x;
  for (int i = 0; i < kLength; ++i) {
    end = i == kLength - 10 ? record("fails", end.value(), {end},
                                     [](GradientPass&) { throw std::runtime_error("no"); })
                            : link(end);
  }
  EXPECT_THROW(backward(end), std::runtime_error);
  end = {};
}

TEST(Tape, RefusesWhatHasNoWayBack) {
  Variable x = leaf({1, 1});
  const Variable constant(listed(DType::float32, {2}, {1, 2}));
  const Variable out = doubled(x);
  const Tensor ones = listed(DType::float32, {2}, {1, 1});
  EXPECT_THROW(backward(Variable()), InvalidArgument);
  EXPECT_THROW(backward(Variable(), ones.view()), InvalidArgument);
  EXPECT_THROW(backward(out), InvalidArgument);
  EXPECT_THROW(backward(constant, ones.view()), InvalidArgument);
  EXPECT_THROW(backward(x, ones.view()), InvalidArgument);
  EXPECT_THROW(backward(out, View()), InvalidArgument);
  EXPECT_THROW(backward(out, listed(DType::float32, {1}, {1}).view()), InvalidArgument);
  EXPECT_THROW(backward(out, listed(DType::float64, {2}, {1, 1}).view()), InvalidArgument);
  back(out, {1, 1});  // and none of these used it up
  EXPECT_EQ(grad_of(x), (Values{2, 2}));
}

TEST(Tape, AnOperatorThatGivesTheWrongGradientIsNamed) {
  Variable x = leaf({1, 1});
  const auto giving = [&](Tensor gradient, int times) {
    return record("faulty", x.value(), {x}, [gradient, times](GradientPass& pass) {
      for (int i = 0; i < times; ++i) pass.give(0, gradient);
    });
  };
  const Tensor right = listed(DType::float32, {2}, {1, 1});
  EXPECT_THROW(back(giving(listed(DType::float32, {3}, {1, 1, 1}), 1), {1, 1}), InternalError);
  EXPECT_THROW(back(giving(listed(DType::float64, {2}, {1, 1}), 1), {1, 1}), InternalError);
  EXPECT_THROW(back(giving(right, 2), {1, 1}), InternalError);
  x.clear_grad();
  const Variable unwanted = record("faulty", x.value(), {x, Variable(right)},
                                   [right](GradientPass& pass) { pass.give(1, right); });
  EXPECT_THROW(back(unwanted, {1, 1}), InternalError);
}

}  // namespace
}  // namespace volvelle
