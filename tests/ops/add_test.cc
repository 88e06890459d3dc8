#include "volvelle/ops/add.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/instruction_sets.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"

namespace volvelle {
namespace {

using testing::expect_gradients;
using testing::normal_input;
using testing::values_of;
using Values = std::vector<double>;

class Add : public testing::OnEveryInstructionSet {};

Tensor normal(DType dtype, const Shape& shape, std::uint64_t seed) {
  return converted(normal_input(shape, seed).view(), dtype);
}

double rounded(DType dtype, double value) {
  if (dtype == DType::float64) return value;
  const float single = static_cast<float>(value);
  return dtype == DType::float32 ? single : to_float(to_bfloat16(single));
}

// The float32 sum of the two numbers, stored in a's dtype.
double sum_in(DType dtype, double a, double b) {
  if (dtype == DType::float64) return a + b;
  return rounded(dtype, static_cast<float>(a) + static_cast<float>(b));
}

struct Pair {
  DType a, b;
};
const std::vector<Pair> kPairs{{DType::float32, DType::float32},
                               {DType::float32, DType::bfloat16},
                               {DType::bfloat16, DType::float32},
                               {DType::bfloat16, DType::bfloat16},
                               {DType::float64, DType::float64}};

struct Shapes {
  Shape a, b;
};
const std::vector<Shapes> kShapes{
    {{3, 5}, {3, 5}}, {{7}, {}},     {{}, {}},         {{2, 3, 17}, {17}}, {{2, 3, 4}, {3, 4}},
    {{0, 3}, {3}},    {{3, 0}, {0}}, {{2, 2, 1}, {1}}, {{70000}, {70000}}, {{5, 40000}, {40000}}};

TEST_P(Add, IsTheSumRoundedOnce) {
  for (const Pair& pair : kPairs) {
    for (const Shapes& shapes : kShapes) {
      const Variable a(normal(pair.a, shapes.a, 1)), b(normal(pair.b, shapes.b, 2));
      const Variable sum = add(a, b);
      EXPECT_EQ(sum.dtype(), pair.a);
      EXPECT_EQ(sum.shape(), shapes.a);
      const Values x = values_of(a.view()), y = values_of(b.view()), ours = values_of(sum.view());
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(ours[i], sum_in(pair.a, x[i], y[i % y.size()])) << to_string(shapes.a) << i;
      }
    }
  }
}

TEST_P(Add, GradientsAreThoseOfDifferences) {
  for (const Shapes& shapes : kShapes) {
    if (element_count(shapes.a) > 1000 || element_count(shapes.a) == 0) continue;
    for (const DType dtype : {DType::float64, DType::float32, DType::bfloat16}) {
      expect_gradients([](const auto& x) { return add(x[0], x[1]); },
                       {normal_input(shapes.a, 1), normal_input(shapes.b, 2)}, {.dtype = dtype});
    }
  }
  expect_gradients([](const auto& x) { return add(x[0], x[0]); }, {normal_input({3, 2}, 1)});
}

// A branch in bfloat16 joins a stream in float32, and the gradient parts in the two dtypes.
TEST_P(Add, GradientsHaveTheDtypesOfTheirVariables) {
  for (const Pair& pair : kPairs) {
    const Variable a(normal(pair.a, {3, 50}, 1), true), b(normal(pair.b, {3, 50}, 2), true);
    const Tensor g = normal(pair.a, {3, 50}, 3);
    for (int pass = 1; pass <= 2; ++pass) {
      backward(add(a, b), g.view());
      EXPECT_EQ(a.grad().dtype(), pair.a);
      EXPECT_EQ(b.grad().dtype(), pair.b);
      const Values right = values_of(g.view()), of_a = values_of(a.grad().view());
      const Values of_b = values_of(b.grad().view());
      for (std::size_t i = 0; i < right.size(); ++i) {
        ASSERT_EQ(of_a[i], pass * right[i]);
        ASSERT_EQ(of_b[i], pass * rounded(pair.b, right[i]));
      }
    }
  }
}

// One chain of float32 additions over so many rows would be off by a thousand times that.
TEST_P(Add, TheGradientOfWhatIsBroadcastIsSummedInFloat64) {
  const Variable a(Tensor::zeros(DType::float32, {70001, 3}), true);
  Variable b(Tensor::zeros(DType::float32, {3}), true);
  Tensor g = normal(DType::float32, {70001, 3}, 5);
  backward(add(a, b), g.view());
  Values right(3, 0.0);
  const Values terms = values_of(g.view());
  for (std::size_t i = 0; i < terms.size(); ++i) right[i % 3] += terms[i];
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(values_of(b.grad().view())[c], right[c], 1e-7 * std::abs(right[c])) << c;
  }
}

TEST_P(Add, ThreadsDoNotChangeABit) {
  for (const Pair& pair : kPairs) {
    std::vector<Tensor> sums, of_a, of_b;
    const Tensor x = normal(pair.a, {300, 700}, 1), table = normal(pair.b, {700}, 2);
    for (const int threads : {1, 2, 8}) {
      const ThreadScope scope(threads);
      const Variable a(x, true), b(table, true);
      const Variable sum = add(a, b);
      backward(sum, x.view());
      sums.push_back(sum.value());
      of_a.push_back(a.grad());
      of_b.push_back(b.grad());
    }
    for (const std::size_t other : {1u, 2u}) {
      EXPECT_EQ(std::memcmp(sums[0].raw(), sums[other].raw(), sums[0].bytes()), 0);
      EXPECT_EQ(std::memcmp(of_a[0].raw(), of_a[other].raw(), of_a[0].bytes()), 0);
      EXPECT_EQ(std::memcmp(of_b[0].raw(), of_b[other].raw(), of_b[0].bytes()), 0);
    }
  }
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Sets, Add);

TEST(BadAdd, IsRefused) {
  const Variable a(Tensor(DType::float32, {2, 3}));
  EXPECT_THROW(add(a, Variable()), InvalidArgument);
  EXPECT_THROW(add(Variable(), a), InvalidArgument);
  EXPECT_THROW(add(a, Variable(Tensor(DType::float32, {2}))), InvalidArgument);
  EXPECT_THROW(add(a, Variable(Tensor(DType::float32, {1, 3}))), InvalidArgument);
  EXPECT_THROW(add(Variable(Tensor(DType::float32, {3})), a), InvalidArgument);
  EXPECT_THROW(add(a, Variable(Tensor(DType::float64, {2, 3}))), InvalidArgument);
  EXPECT_THROW(add(a, Variable(Tensor(DType::int32, {2, 3}))), InvalidArgument);
  EXPECT_THROW(add(Variable(Tensor(DType::float16, {3})), Variable(Tensor(DType::float16, {3}))),
               InvalidArgument);
}

}  // namespace
}  // namespace volvelle
