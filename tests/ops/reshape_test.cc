#include "volvelle/ops/reshape.h"

#include <gtest/gtest.h>

#include "support/arrays.h"
#include "support/gradient_check.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/sums.h"

namespace volvelle {
namespace {

using testing::normal_input;

TEST(Reshape, ShowsTheSameBytes) {
  const Variable x(normal_input({2, 3, 4}, 1));
  const Variable y = reshape(x, {6, 4});
  EXPECT_EQ(y.value().raw(), x.value().raw());
  EXPECT_EQ(y.shape(), (Shape{6, 4}));
}

TEST(Reshape, GradientsPassThroughInTheOldShape) {
  testing::expect_gradients([](const auto& x) { return reshape(x[0], {4, 6}); },
                            {normal_input({2, 3, 4}, 1)});
  testing::expect_gradients([](const auto& x) { return dot(reshape(x[0], {6}), x[1]); },
                            {normal_input({2, 3}, 1), normal_input({6}, 2)});
}

TEST(Reshape, AChangeInPlaceAfterTheViewWasSavedIsAnError) {
  Variable x(normal_input({2, 3}, 1), true);
  const Variable loss = mean_square(reshape(x, {6}));
  (void)x.change();
  EXPECT_THROW(backward(loss), InvalidArgument);
}

TEST(BadReshape, IsRefused) {
  const Variable x(normal_input({2, 3}, 1));
  EXPECT_THROW(reshape(Variable(), {1}), InvalidArgument);
  EXPECT_THROW(reshape(x, {7}), InvalidArgument);
  EXPECT_THROW(reshape(x, {-2, -3}), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
