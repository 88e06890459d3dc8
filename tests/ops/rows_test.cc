#include "volvelle/ops/rows.h"

#include <gtest/gtest.h>

#include "support/arrays.h"
#include "support/gradient_check.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/add.h"

namespace volvelle {
namespace {

using testing::listed;
using testing::values_of;

TEST(Rows, AreAViewOfTheSameNumbers) {
  Variable x(listed(DType::float32, {3, 2}, {1, 2, 3, 4, 5, 6}), true);
  const Variable part = rows(x, 1, 2);
  EXPECT_EQ(part.shape(), (Shape{2, 2}));
  EXPECT_EQ(part.value().raw(), x.value().data<float>() + 2);
  const std::uint64_t before = part.version();
  x.change();
  EXPECT_NE(part.version(), before);
}

TEST(Rows, GradientsAreThoseOfDifferences) {
  testing::expect_gradients(
      [](const std::vector<Variable>& in) {
        // Rows met twice, and ones that nobody reads.
        return add(rows(in[0], 1, 2), rows(in[0], 0, 2));
      },
      {testing::normal_input({4, 3}, 1)});
}

TEST(Rows, NobodysRowsReceiveZero) {
  Variable x(listed(DType::float32, {3}, {1, 2, 3}), true);
  x.bind_grad(listed(DType::float32, {3}, {7, 7, 7}));
  backward(rows(x, 1, 1));
  EXPECT_EQ(values_of(x.grad().view()), (std::vector<double>{0, 1, 0}));
  backward(rows(x, 2, 1));
  EXPECT_EQ(values_of(x.grad().view()), (std::vector<double>{0, 1, 1}));
}

TEST(Rows, RefusesRowsThatAreNotThere) {
  const Variable x(listed(DType::float32, {3}, {1, 2, 3}));
  EXPECT_EQ(rows(x, 3, 0).size(), 0);
  EXPECT_THROW(rows(x, 2, 2), InvalidArgument);
  EXPECT_THROW(rows(x, -1, 2), InvalidArgument);
  EXPECT_THROW(rows(x, 1, -1), InvalidArgument);
  EXPECT_THROW(rows(x, INT64_MAX, INT64_MAX), InvalidArgument);
  EXPECT_THROW(rows({}, 0, 0), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
