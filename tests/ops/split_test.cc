#include "volvelle/ops/split.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/instruction_sets.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"
#include "volvelle/ops/add.h"
#include "volvelle/ops/sums.h"

namespace volvelle {
namespace {

using testing::listed;
using testing::normal_input;
using testing::values_of;
using Lengths = std::vector<std::int64_t>;
using Values = std::vector<double>;

TEST(Split, CutsTheLastAxis) {
  const Variable x(listed(DType::float32, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
  const std::vector<Variable> parts = split(x, Lengths{1, 3});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].shape(), (Shape{2, 3}));
  EXPECT_EQ(values_of(parts[0].view()), (Values{1, 5}));
  EXPECT_EQ(values_of(parts[1].view()), (Values{2, 3, 4, 6, 7, 8}));
}

TEST(Split, GradientsAreThoseOfDifferences) {
  for (const DType dtype : {DType::float64, DType::float32, DType::bfloat16}) {
    testing::expect_gradients(
        [](const auto& x) {
          const std::vector<Variable> parts = split(x[0], Lengths{2, 2, 3});
          return add(parts[0], add(parts[1], parts[0]));  // the last is used by nobody
        },
        {normal_input({3, 5, 7}, 1)}, {.dtype = dtype});
  }
}

// A part that is not used gives zeros, over whatever bound storage held.
TEST(Split, PartsThatNobodyUsesHaveGradientZero) {
  Variable x(listed(DType::float32, {2, 3}, {1, 2, 3, 4, 5, 6}), true);
  x.bind_grad(listed(DType::float32, {2, 3}, {9, 9, 9, 9, 9, 9}));
  backward(sum(split(x, Lengths{1, 1, 1})[1]));
  EXPECT_EQ(values_of(x.grad().view()), (Values{0, 1, 0, 0, 1, 0}));
  backward(sum(split(x, Lengths{1, 2})[1]));
  EXPECT_EQ(values_of(x.grad().view()), (Values{0, 2, 1, 0, 2, 1}));
}

TEST(Split, ThreadsDoNotChangeABit) {
  std::vector<Tensor> all;
  for (const int threads : {1, 2, 8}) {
    const ThreadScope scope(threads);
    const Variable x(converted(normal_input({400, 301}, 1).view(), DType::float32), true);
    const std::vector<Variable> parts = split(x, Lengths{100, 101, 100});
    backward(sum(add(parts[0], parts[2])));
    backward(mean_square(split(x, Lengths{100, 101, 100})[1]));
    all.push_back(x.grad());
    EXPECT_EQ(std::memcmp(all[0].raw(), all.back().raw(), all[0].bytes()), 0);
  }
}

TEST(BadSplit, IsRefused) {
  const Variable x(normal_input({2, 4}, 1));
  EXPECT_THROW(split(Variable(), Lengths{4}), InvalidArgument);
  EXPECT_THROW(split(x, Lengths{1, 2}), InvalidArgument);
  EXPECT_THROW(split(x, Lengths{}), InvalidArgument);
  EXPECT_THROW(split(x, Lengths{4, 1}), InvalidArgument);
  EXPECT_THROW(split(x, Lengths{0, 4}), InvalidArgument);
  EXPECT_THROW(split(x, Lengths{-1, 5}), InvalidArgument);
  EXPECT_THROW(split(x, Lengths{INT64_MAX, INT64_MAX, 6}), InvalidArgument);
  EXPECT_THROW(split(Variable(Tensor(DType::float32, Shape{})), Lengths{1}), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
