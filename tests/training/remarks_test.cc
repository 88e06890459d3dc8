// What is said of a run: post-norm without warm-up (trap 90), and nothing where nothing is wrong.
#include "volvelle/training/remarks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Remarks, PostNormWithoutWarmUpIsWarnedOf) {
  StackOptions stack{.layers = 24};
  stack.placement = "post";
  const ScheduleOptions constant{.rate = 1e-3};
  const auto warning =
      AllOf(HasSubstr("24 of 24 layers"), HasSubstr("warm_up"), HasSubstr("0.001"));
  EXPECT_THAT(training_remarks(stack, constant), ElementsAre(warning));

  StepReport report;
  report.step = 1;
  report.parameters = {{.name = "layers.0.w", .gradient_norm = 3},
                       {.name = "layers.0.b", .gradient_norm = 4},
                       {.name = "layers.1.w", .gradient_norm = 0.25}};
  EXPECT_THAT(
      training_remarks(stack, constant, &report),
      ElementsAre(warning, HasSubstr("gradient norms of step 1: layers.0 5, layers.1 0.25")));
}

TEST(Remarks, NothingIsSaidWhereNothingSpeaksAgainst) {
  StackOptions stack{.layers = 4};
  stack.placement = "post";
  EXPECT_THAT(training_remarks(stack, {.rate = 1e-3, .warm_up = 1}), IsEmpty());
  for (const char* placement : {"pre", "sandwich", "reordered", "parallel", "deepnorm", "none"}) {
    stack.placement = placement;
    EXPECT_THAT(training_remarks(stack, {.rate = 1e-3}), IsEmpty()) << placement;
  }
}

TEST(Remarks, LayersMayDiffer) {
  StackOptions stack{.layers = 5};
  stack.placement = "2: post | pre";
  EXPECT_THAT(training_remarks(stack, {}), ElementsAre(HasSubstr("2 of 5 layers")));
}

TEST(Remarks, AnUnknownPlacementIsRefused) {
  StackOptions stack;
  stack.placement = "pots";
  EXPECT_THROW(training_remarks(stack, {}), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
