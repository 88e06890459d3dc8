// Variables: changes in place after they were saved, views, read-only numbers, what is refused.
#include "volvelle/autograd/variable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "ops/pass_on.h"
#include "support/arrays.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/autograd/tape.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;
using testing::listed;
using testing::values_of;

Tensor one_two() { return listed(DType::float32, {2}, {1, 2}); }

void pass(GradientPass& gradients) { pass_on(gradients, 0, gradients.take_grad_output()); }

// Saves its input; `saves_output`: its result instead.
Variable keeper(const Variable& x, bool saves_output = false) {
  if (saves_output) {
    return record("keeper", copy_of(x.view()), {x}, [](GradientPass& gradients) {
      gradients.check_output();
      pass(gradients);
    });
  }
  return record("keeper", copy_of(x.view()), {x}, [x = Saved(x)](GradientPass& gradients) {
    (void)x.view("keeper");
    pass(gradients);
  });
}

Variable view_of(const Variable& x) {
  return record_view("view_of", x.value().reshaped({2, 1}), x, [](GradientPass& gradients) {
    pass_on(gradients, 0, gradients.take_grad_output().reshaped({2}));
  });
}

template <class Change>
std::string refusal(const Variable& output, Change&& change) {
  change();
  try {
    backward(output, Tensor::zeros(output.dtype(), output.shape()).view());
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(ChangedInPlace, AfterItWasSavedIsAnError) {
  Variable x(one_two(), true);
  EXPECT_EQ(refusal(keeper(x), [] {}), "");  // control
  EXPECT_THAT(refusal(keeper(x), [&] { (void)x.change(); }), HasSubstr("keeper"));
  EXPECT_THAT(refusal(keeper(x), [&] { x.replace(one_two()); }), HasSubstr("changed in place"));
}

TEST(ChangedInPlace, BeforeItWasSavedIsNot) {
  Variable x(one_two(), true);
  (void)x.change();
  EXPECT_EQ(refusal(keeper(x), [] {}), "");
  EXPECT_EQ(refusal(keeper(x, true), [] {}), "");
}

TEST(ChangedInPlace, AResultThatItsOperatorNeedsIsAnError) {
  const Variable x(one_two(), true);
  Variable out = keeper(x, true);
  EXPECT_THAT(refusal(out, [&] { (void)out.change(); }), HasSubstr("result of keeper"));
  Variable unneeded = keeper(x);
  EXPECT_EQ(refusal(unneeded, [&] { (void)unneeded.change(); }), "");
}

TEST(ChangedInPlace, AViewAndWhatItShowsChangeTogether) {
  Variable x(one_two(), true);
  Variable seen = view_of(x);
  EXPECT_THAT(refusal(keeper(seen), [&] { (void)x.change(); }), HasSubstr("keeper"));
  EXPECT_THAT(refusal(keeper(x), [&] { (void)seen.change(); }), HasSubstr("keeper"));
  Variable made = keeper(x, true);
  const Variable of_made = view_of(made);
  EXPECT_THAT(refusal(made, [&] { Variable(of_made).change(); }), HasSubstr("result of keeper"));
  // Numbers that were replaced are no longer the same.
  EXPECT_EQ(refusal(keeper(seen = view_of(x)), [&] { x.replace(one_two()); }), "");
}

TEST(ChangedInPlace, AViewOfWhatWasChangedBeforeIsWhole) {
  Variable x(one_two(), true);
  (void)x.change();
  const Variable seen = view_of(x);
  EXPECT_EQ(seen.version(), x.version());
  EXPECT_EQ(refusal(record("needs_output", copy_of(seen.view()), {seen},
                           [](GradientPass& gradients) {
                             gradients.check_output();
                             pass(gradients);
                           }),
                    [] {}),
            "");
}

TEST(ReadOnly, RefusesChangesAndShowsInViews) {
  Variable x(one_two(), true);
  const Variable before = view_of(x);
  x.make_read_only();
  EXPECT_TRUE(x.is_read_only());
  EXPECT_THROW(x.change(), InvalidArgument);
  EXPECT_THROW(Variable(before).change(), InvalidArgument);
  EXPECT_THROW(view_of(x).change(), InvalidArgument);
  x.replace(one_two());
  static_cast<float*>(x.change().data())[0] = 7;
  EXPECT_EQ(values_of(x.view()), (std::vector<double>{7, 2}));
  EXPECT_EQ(values_of(before.view()), (std::vector<double>{1, 2}));
}

TEST(Derived, LastsUntilTheNumbersChange) {
  Variable x(one_two());
  EXPECT_EQ(x.derived(), nullptr);
  x.keep_derived(std::make_shared<int>(5));
  ASSERT_NE(x.derived(), nullptr);
  EXPECT_EQ(*static_cast<const int*>(x.derived().get()), 5);
  (void)x.change();
  EXPECT_EQ(x.derived(), nullptr);
  x.keep_derived(std::make_shared<int>(6));
  x.replace(one_two());
  EXPECT_EQ(x.derived(), nullptr);
}

TEST(BadVariable, Float16TakesNoGradient) {
  const Tensor half = converted(listed(DType::float32, {2}, {1, 2}).view(), DType::float16);
  EXPECT_THROW(Variable(half, true), InvalidArgument);
  Variable constant(half);
  EXPECT_THROW(constant.set_requires_grad(true), InvalidArgument);
  const Variable x(listed(DType::float32, {2}, {1, 2}), true);
  EXPECT_THROW(record("narrow", half, {x}, [](GradientPass&) {}), InvalidArgument);
}

TEST(BadVariable, IsRefused) {
  EXPECT_THROW(Variable{Tensor()}, InvalidArgument);
  EXPECT_THROW(Variable(Tensor(DType::int32, {2}), true), InvalidArgument);
  EXPECT_THROW(Variable(Tensor(DType::int32, {2})).set_requires_grad(true), InvalidArgument);
  EXPECT_THROW((void)Variable().value(), InvalidArgument);
  Variable x(one_two(), true);
  EXPECT_THROW(x.replace(Tensor()), InvalidArgument);
  EXPECT_THROW(x.replace(Tensor(DType::float32, {3})), InvalidArgument);
  EXPECT_THROW(x.replace(Tensor(DType::float64, {2})), InvalidArgument);
  EXPECT_THROW(x.bind_grad(Tensor(DType::float32, {3})), InvalidArgument);
  EXPECT_THROW(x.bind_grad(Tensor()), InvalidArgument);
  Variable out = keeper(x);
  EXPECT_THROW(out.set_requires_grad(false), InvalidArgument);
  EXPECT_THROW(out.bind_grad(one_two()), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
