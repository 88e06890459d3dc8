#include "volvelle/ops/softmax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random_numbers.h"
#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/instruction_sets.h"
#include "support/products.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"
#include "volvelle/ops/add.h"

namespace volvelle {
namespace {

using testing::filled;
using testing::listed;
using testing::product_difference;
using testing::values_of;

class Softmax : public testing::OnEveryInstructionSet {};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor normal(DType dtype, const Shape& shape, RandomNumbers& random, double spread = 1) {
  return filled(dtype, shape, [&] { return spread * random.normal(); });
}

struct Oracle {
  std::vector<double> y, grad, y_terms, grad_terms;

  // The gradient is that of what was stored: y as it is, rounding and all.
  Oracle(const std::vector<double>& x, const std::vector<double>& stored,
         const std::vector<double>& grad_y, std::size_t width) {
    for (std::size_t first = 0; first < x.size(); first += width) {
      double largest = -kInfinity, sum = 0, along = 0, size = 0;
      for (std::size_t j = first; j < first + width; ++j) largest = std::max(largest, x[j]);
      for (std::size_t j = first; j < first + width; ++j) sum += std::exp(x[j] - largest);
      for (std::size_t j = first; j < first + width; ++j) {
        y.push_back(std::exp(x[j] - largest) / sum);
        y_terms.push_back(y.back() * (1 + std::fabs(x[j] - largest)));
        along += stored[j] * grad_y[j];
        size += std::fabs(stored[j] * grad_y[j]);
      }
      for (std::size_t j = first; j < first + width; ++j) {
        grad.push_back(stored[j] * (grad_y[j] - along));
        grad_terms.push_back(stored[j] * (std::fabs(grad_y[j]) + size));
      }
    }
  }
};

TEST_P(Softmax, AgreesWithTheFormulaForwardAndBack) {
  RandomNumbers random(1);
  for (const std::int64_t width : {1, 3, 17, 64, 65, 1000, 5001}) {
    for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64}) {
      const Variable x(normal(dtype, {3, width}, random, 3), true);
      const Tensor grad = normal(dtype, {3, width}, random);
      const Variable y = softmax(x);
      backward(y, grad.view());
      Oracle right(values_of(x.view()), values_of(y.view()), values_of(grad.view()),
                   static_cast<std::size_t>(width));
      EXPECT_EQ(product_difference(y.view(), right.y, right.y_terms, width), "") << width;
      EXPECT_EQ(product_difference(x.grad().view(), right.grad, right.grad_terms, width), "");
      right.y.back() *= 1.05;  // controls
      EXPECT_NE(product_difference(y.view(), right.y, right.y_terms, width), "");
      right.grad.back() += 0.05 * right.grad_terms.back();
      EXPECT_NE(product_difference(x.grad().view(), right.grad, right.grad_terms, width), "");
    }
  }
}

TEST_P(Softmax, InfinityExcludesAndNaNStaysInItsRow) {
  const double nan = std::nan("");
  const Variable x(
      listed(DType::float32, {4, 2}, {-kInfinity, 2, 1, nan, -kInfinity, -kInfinity, 1e30, 0}));
  const std::vector<double> y = values_of(softmax(x).view());
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 1);
  EXPECT_TRUE(std::isnan(y[2]) && std::isnan(y[3]));
  EXPECT_TRUE(std::isnan(y[4]) && std::isnan(y[5]));  // nothing to share among
  EXPECT_EQ(y[6], 1);
  EXPECT_EQ(y[7], 0);
}

TEST_P(Softmax, ThreadsChangeNoBit) {
  RandomNumbers random(2);
  const Tensor numbers = normal(DType::float32, {701, 129}, random);
  const Tensor grad = normal(DType::float32, {701, 129}, random);
  std::vector<double> first;
  for (const int threads : {1, 2, 8}) {
    const ThreadScope scope(threads);
    const Variable x(numbers, true);
    const Variable y = softmax(x);
    backward(y, grad.view());
    std::vector<double> all = values_of(y.view());
    const std::vector<double> grads = values_of(x.grad().view());
    all.insert(all.end(), grads.begin(), grads.end());
    if (first.empty()) first = all;
    EXPECT_TRUE(all == first) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Simd, Softmax, ::testing::ValuesIn(simd_targets()),
                         [](const auto& test) { return test.param; });

TEST(SoftmaxGradient, AgreesWithCentralDifferences) {
  for (const DType dtype : {DType::float64, DType::float32}) {
    testing::expect_gradients([](const auto& x) { return softmax(x[0]); },
                              {testing::normal_input({2, 3, 7}, 1)}, {.dtype = dtype});
  }
}

TEST(SoftmaxTape, GradientsJoinWhatIsThere) {
  RandomNumbers random(3);
  const Variable x(normal(DType::float32, {2, 9}, random), true);
  const Tensor grad = normal(DType::float32, {2, 9}, random);
  backward(softmax(x), grad.view());
  const std::vector<double> once = values_of(x.grad().view());
  backward(softmax(x), grad.view());
  const std::vector<double> twice = values_of(x.grad().view());
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(twice[i], 2 * once[i], 1e-7);
}

TEST(SoftmaxTape, NothingIsWrittenForWhoNoLongerWantsIt) {
  Variable x(testing::normal_floats({2, 3}, 1), true);
  Variable z(testing::normal_floats({2, 3}, 2), true);
  const Variable y = add(softmax(x), z);
  x.set_requires_grad(false);
  backward(y, testing::normal_floats({2, 3}, 3).view());
  EXPECT_FALSE(x.grad());
  EXPECT_TRUE(z.grad());
}

TEST(SoftmaxTape, AResultChangedInPlaceIsRefused) {
  const Variable x(Tensor::zeros(DType::float32, {2, 3}), true);
  Variable y = softmax(x);
  y.change();
  EXPECT_THROW(backward(y, Tensor::zeros(DType::float32, {2, 3}).view()), InvalidArgument);
}

TEST(SoftmaxShapes, EmptyRows) {
  for (const Shape& shape : {Shape{0, 4}, Shape{3, 0}}) {
    const Variable x(Tensor(DType::float32, shape), true);
    const Variable y = softmax(x);
    EXPECT_EQ(y.shape(), shape);
    backward(y, Tensor(DType::float32, shape).view());
    EXPECT_EQ(x.grad().shape(), shape);
  }
}

TEST(SoftmaxBadInput, IsNamed) {
  const auto expect_refused = [](const Variable& x, const std::string& text) {
    try {
      softmax(x);
      ADD_FAILURE() << "accepted; expected: " << text;
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(text));
    }
  };
  expect_refused({}, "[softmax] x is missing");
  expect_refused(Variable(Tensor::zeros(DType::float32, {})), "x () must have shape (..., C)");
  expect_refused(Variable(Tensor::zeros(DType::int32, {2})),
                 "x is int32; it must be float32, bfloat16 or float64");
}

}  // namespace
}  // namespace volvelle
