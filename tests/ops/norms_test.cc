#include "volvelle/ops/norms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/random_numbers.h"
#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/instruction_sets.h"
#include "support/norm_oracle.h"
#include "support/products.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using testing::filled;
using testing::listed;
using testing::NormGradients;
using testing::NormOracle;
using testing::product_difference;
using testing::values_of;

class Norms : public testing::OnEveryInstructionSet {};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

Tensor normal(DType dtype, const Shape& shape, RandomNumbers& random, double mean = 0,
              double spread = 1) {
  return filled(dtype, shape, [&] { return mean + spread * random.normal(); });
}

/// One norm, forward and back, and what the formula says.
struct Trial {
  bool centred;
  Variable x, weight, bias;
  double offset = 0;
  std::optional<DType> dtype = {};
  double epsilon = 1e-5;
  int threads = 1;

  Variable run() const {
    if (centred) {
      return layer_norm(x, weight, bias, {.epsilon = epsilon, .dtype = dtype, .threads = threads});
    }
    return rms_norm(
        x, weight,
        {.epsilon = epsilon, .weight_offset = offset, .dtype = dtype, .threads = threads});
  }

  NormOracle oracle() const {
    const auto numbers = [](const Variable& v) {
      return v ? values_of(v.view()) : std::vector<double>();
    };
    return {centred, values_of(x.view()),    numbers(weight), numbers(bias), offset,
            epsilon, x.shape()[x.rank() - 1]};
  }

  // Everything wrong, in words; empty: nothing.
  std::string difference(const Tensor& grad_y) const {
    const Variable y = run();
    const NormOracle right = oracle();
    const std::int64_t width = x.shape()[x.rank() - 1];
    std::string wrong = product_difference(y.view(), right.y, right.y_terms, width);
    backward(y, grad_y.view());
    const NormGradients grads = right.gradients(values_of(grad_y.view()));
    wrong += product_difference(x.grad().view(), grads.x, grads.x_terms, width);
    const std::int64_t rows = width == 0 ? 0 : x.size() / width;
    if (weight) {
      wrong += product_difference(weight.grad().view(), grads.weight, grads.weight_terms, rows);
    }
    if (bias) wrong += product_difference(bias.grad().view(), grads.bias, grads.bias_terms, rows);
    return wrong;
  }
};

struct Sizes {
  std::int64_t rows, width;
};
// One, odd, one past and short of vectors, chains and blocks of rows.
const std::vector<Sizes> kSizes{{1, 1},   {2, 3},   {5, 15},  {3, 16},  {17, 17},
                                {4, 63},  {33, 64}, {16, 65}, {65, 80}, {7, 127},
                                {3, 129}, {9, 768}, {2, 1000}};

TEST_P(Norms, AgreeWithTheFormulaForwardAndBack) {
  RandomNumbers random(1);
  for (const bool centred : {true, false}) {
    for (const Sizes& s : kSizes) {
      for (const DType dtype : {DType::float32, DType::float64}) {
        const Variable x(normal(dtype, {s.rows, s.width}, random, 0.5), true);
        const Variable weight(normal(dtype, {s.width}, random, 1), true);
        Trial trial{centred, x, weight, {}};
        if (centred) trial.bias = Variable(normal(dtype, {s.width}, random), true);
        EXPECT_EQ(trial.difference(normal(dtype, {s.rows, s.width}, random)), "")
            << s.rows << " x " << s.width << (centred ? " layer " : " rms ") << name_of(dtype);
      }
    }
  }
}

// Controls: what is left out of a formula must be seen by the comparison.
TEST_P(Norms, AComparisonWithAnotherFormulaFails) {
  RandomNumbers random(2);
  const Variable x(normal(DType::float32, {3, 40}, random, 0.5), true);
  const Variable weight(normal(DType::float32, {40}, random, 1), true);
  const Tensor grad = normal(DType::float32, {3, 40}, random);
  Trial trial{true, x, weight, {}};
  const Variable y = trial.run();
  backward(y, grad.view());
  for (const double factor : {1 - 1e-5, 1 + 1e-5}) {
    NormOracle right = trial.oracle();
    EXPECT_EQ(product_difference(y.view(), right.y, right.y_terms, 40), "");
    right.y.back() *= factor;
    EXPECT_NE(product_difference(y.view(), right.y, right.y_terms, 40), "");
    NormGradients grads = right.gradients(values_of(grad.view()));
    EXPECT_EQ(product_difference(x.grad().view(), grads.x, grads.x_terms, 40), "");
    grads.x[7] += (factor - 1) * grads.x_terms[7];
    EXPECT_NE(product_difference(x.grad().view(), grads.x, grads.x_terms, 40), "");
  }
  // The unbiased variance, and epsilon outside the root.
  const std::vector<double> right = trial.oracle().y;
  std::vector<double> unbiased = right;
  for (double& v : unbiased) v *= std::sqrt(39.0 / 40);
  const std::vector<double> terms = trial.oracle().y_terms;
  EXPECT_NE(product_difference(y.view(), unbiased, terms, 40), "");
}

TEST_P(Norms, TakeEveryPairOfDtypes) {
  RandomNumbers random(3);
  for (const bool centred : {true, false}) {
    for (const DType x_dtype : {DType::float32, DType::bfloat16}) {
      for (const DType y_dtype : {DType::float32, DType::bfloat16}) {
        for (const DType w_dtype : {DType::float32, DType::bfloat16}) {
          const Variable x(normal(x_dtype, {19, 70}, random, 0.5), true);
          const Variable weight(normal(w_dtype, {70}, random, 1), true);
          Trial trial{centred, x, weight, {}};
          if (centred) trial.bias = Variable(normal(w_dtype, {70}, random), true);
          trial.dtype = y_dtype;
          ASSERT_EQ(trial.run().dtype(), y_dtype);
          EXPECT_EQ(trial.difference(normal(y_dtype, {19, 70}, random)), "")
              << name_of(x_dtype) << " to " << name_of(y_dtype) << ", weight " << name_of(w_dtype);
          EXPECT_EQ(x.grad().dtype(), x_dtype);
          EXPECT_EQ(weight.grad().dtype(), w_dtype);
        }
      }
    }
  }
}

// A small spread around a large mean: the mean's own rounding, 5e-4, must not be seen.
TEST_P(Norms, ALargeMeanKeepsTheDigitsOfASmallSpread) {
  RandomNumbers random(4);
  for (const std::int64_t width : {3, 64, 768, 1000}) {
    const Variable x(normal(DType::float32, {6, width}, random, 1e4, 0.01), true);
    Trial trial{true, x, {}, {}};
    EXPECT_EQ(trial.difference(normal(DType::float32, {6, width}, random)), "") << width;
  }
}

TEST_P(Norms, SquaresBeyondFloatDoNotCollapse) {
  const Variable x(listed(DType::float32, {1, 4}, {1e38, 1e38, 1e38, -1e38}));
  for (const bool centred : {true, false}) {
    Trial trial{centred, x, {}, {}};
    const NormOracle right = trial.oracle();
    EXPECT_EQ(product_difference(trial.run().view(), right.y, right.y_terms, 4), "");
  }
}

TEST_P(Norms, SquaresBelowFloatDoNotVanish) {
  const Variable x(listed(DType::float32, {1, 4}, {1e-24, -3e-24, 2e-25, 5e-24}));
  for (const bool centred : {true, false}) {
    Trial trial{centred, x, {}, {}};
    trial.epsilon = 0;
    const NormOracle right = trial.oracle();
    EXPECT_EQ(product_difference(trial.run().view(), right.y, right.y_terms, 4), "");
  }
}

TEST_P(Norms, WhatIsNotFiniteStaysInItsRow) {
  for (const bool centred : {true, false}) {
    const Variable x(listed(DType::float32, {3, 2}, {1, 2, kInfinity, 1, kNaN, 4}), true);
    const Variable y = Trial{centred, x, {}, {}}.run();
    const std::vector<double> out = values_of(y.view());
    EXPECT_TRUE(std::isfinite(out[0]) && std::isfinite(out[1]));
    // inf * (1 / inf): a number would be made up.
    EXPECT_TRUE(std::isnan(out[2]));
    if (centred) {
      EXPECT_TRUE(std::isnan(out[3]));
    } else {
      EXPECT_EQ(out[3], 0);
    }
    EXPECT_TRUE(std::isnan(out[4]) && std::isnan(out[5]));
    backward(y, filled(DType::float32, {3, 2}, [] { return 1; }).view());
    const std::vector<double> grad = values_of(x.grad().view());
    EXPECT_TRUE(std::isfinite(grad[0]) && std::isfinite(grad[1]));
    EXPECT_TRUE(std::isnan(grad[2]) && std::isnan(grad[4]) && std::isnan(grad[5]));
  }
}

TEST_P(Norms, ARowWithoutSpreadBecomesTheBias) {
  const Variable x(filled(DType::float32, {2, 37}, [] { return 3.7; }), true);
  const Variable bias(filled(DType::float32, {37}, [] { return 0.25; }));
  const Variable y = layer_norm(x, {}, bias);
  EXPECT_EQ(values_of(y.view()), std::vector<double>(74, 0.25));
}

// 1 + weight is not rounded to the weight's dtype: 1 + 2^-9 is no bfloat16.
TEST_P(Norms, AnOffsetIsAddedInFloat) {
  const Variable x(listed(DType::float32, {1, 2}, {1, -1}));
  const Variable weight(filled(DType::bfloat16, {2}, [] { return 0x1p-9; }));
  const Variable y = rms_norm(x, weight, {.epsilon = 0, .weight_offset = 1});
  EXPECT_EQ(values_of(y.view()), (std::vector<double>{1 + 0x1p-9, -1 - 0x1p-9}));
}

TEST_P(Norms, TheOffsetIsPartOfTheFactorAndNotOfItsGradient) {
  RandomNumbers random(5);
  const Variable x(normal(DType::float32, {21, 33}, random), true);
  const Variable weight(normal(DType::float32, {33}, random), true);
  Trial trial{false, x, weight, {}};
  trial.offset = 1;
  EXPECT_EQ(trial.difference(normal(DType::float32, {21, 33}, random)), "");
}

// Blocks of rows are summed in order: 1, 2 and 8 threads make the same bits.
TEST_P(Norms, ThreadsChangeNoBit) {
  RandomNumbers random(6);
  const Tensor numbers = normal(DType::float32, {3001, 65}, random);
  const Tensor grad = normal(DType::float32, {3001, 65}, random);
  for (const bool centred : {true, false}) {
    std::vector<std::vector<double>> first;
    for (const int threads : {1, 2, 8}) {
      const Variable x(copy_of(numbers.view()), true);
      const Variable weight(filled(DType::float32, {65}, [] { return 1; }), true);
      Trial trial{centred, x, weight, {}};
      if (centred) trial.bias = Variable(filled(DType::float32, {65}, [] { return 0; }), true);
      trial.threads = threads;
      const Variable y = trial.run();
      backward(y, grad.view());
      std::vector<std::vector<double>> all{values_of(y.view()), values_of(x.grad().view()),
                                           values_of(weight.grad().view())};
      if (centred) all.push_back(values_of(trial.bias.grad().view()));
      if (first.empty()) first = all;
      EXPECT_TRUE(all == first) << threads << " threads";
    }
  }
}

// A row's bits do not depend on its neighbours.
TEST_P(Norms, ARowAloneHasTheSameBits) {
  RandomNumbers random(7);
  const Tensor numbers = normal(DType::float32, {5, 77}, random);
  const std::vector<double> all = values_of(layer_norm(Variable(numbers), {}, {}).view());
  for (std::int64_t r = 0; r < 5; ++r) {
    const View row(numbers.data<float>() + r * 77, Shape{1, 77});
    const std::vector<double> alone = values_of(layer_norm(Variable(copy_of(row)), {}, {}).view());
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), all.begin() + r * 77)) << r;
  }
}

INSTANTIATE_TEST_SUITE_P(Simd, Norms, ::testing::ValuesIn(simd_targets()),
                         [](const auto& test) { return test.param; });

TEST(NormsShapes, NoRowsAndNoWidth) {
  for (const Shape& shape : {Shape{0, 5}, Shape{2, 0, 5}, Shape{3, 0}}) {
    const Variable x(Tensor(DType::float32, shape), true);
    const std::int64_t width = shape[shape.rank() - 1];
    const Variable weight(Tensor::zeros(DType::float32, {width}), true);
    const Variable y = layer_norm(x, weight, weight);
    EXPECT_EQ(y.shape(), shape);
    backward(y, Tensor(DType::float32, shape).view());
    EXPECT_EQ(x.grad().shape(), shape);
    EXPECT_EQ(values_of(weight.grad().view()),
              std::vector<double>(static_cast<std::size_t>(width), 0.0));
  }
}

TEST(NormsShapes, LeadingAxesAreRows) {
  RandomNumbers random(8);
  const Tensor numbers = normal(DType::float32, {2, 3, 10}, random);
  EXPECT_EQ(values_of(layer_norm(Variable(numbers), {}, {}).view()),
            values_of(layer_norm(Variable(numbers.reshaped({6, 10})), {}, {}).view()));
  EXPECT_EQ(layer_norm(Variable(normal(DType::float32, {10}, random)), {}, {}).shape(),
            (Shape{10}));
}

// The stream's gradient has what skipped the norm already; the norm's own part is added to it.
TEST(NormsTape, GradientsJoinWhatIsThere) {
  RandomNumbers random(9);
  const Tensor numbers = normal(DType::float32, {4, 12}, random);
  const Tensor grad = normal(DType::float32, {4, 12}, random);
  const Variable once(numbers, true), twice(numbers, true);
  const Variable weight(filled(DType::float32, {12}, [] { return 1.5; }), true);
  backward(layer_norm(once, weight, {}), grad.view());
  const std::vector<double> weight_once = values_of(weight.grad().view());
  for (int i = 0; i < 2; ++i) backward(layer_norm(twice, weight, {}), grad.view());
  const std::vector<double> a = values_of(once.grad().view()), b = values_of(twice.grad().view());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(2 * a[i], b[i]);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(values_of(weight.grad().view())[i], 3 * weight_once[i],
                1e-6 * std::fabs(weight_once[i]) + 1e-7);
  }
}

// The control, each input's gradient a fifth too large or with a hole, is part of the check.
TEST(NormsGradient, AgreesWithCentralDifferences) {
  // Not the seed of the weights of the sum: along x itself nearly nothing passes a norm.
  const Tensor x = testing::normal_input({3, 5, 7}, 11);
  const Tensor weight = testing::normal_input({7}, 2), bias = testing::normal_input({7}, 3);
  for (const DType dtype : {DType::float64, DType::float32}) {
    const testing::GradientCheck check{.dtype = dtype};
    testing::expect_gradients([](const auto& v) { return layer_norm(v[0], v[1], v[2]); },
                              {x, weight, bias}, check);
    testing::expect_gradients([](const auto& v) { return layer_norm(v[0], {}, {}); }, {x}, check);
    testing::expect_gradients([](const auto& v) { return layer_norm(v[0], {}, v[1]); }, {x, bias},
                              check);
    testing::expect_gradients([](const auto& v) { return rms_norm(v[0], v[1]); }, {x, weight},
                              check);
    testing::expect_gradients(
        [](const auto& v) { return rms_norm(v[0], v[1], {.epsilon = 0.1, .weight_offset = 1}); },
        {x, weight}, check);
  }
}

TEST(NormsTape, OnlyWhatIsAskedForIsComputed) {
  RandomNumbers random(10);
  const Tensor numbers = normal(DType::float32, {4, 12}, random);
  const Tensor grad = normal(DType::float32, {4, 12}, random);
  const Variable weight(filled(DType::float32, {12}, [] { return 1.5; }), true);
  const Variable x(numbers), bias(Tensor::zeros(DType::float32, {12}));
  backward(layer_norm(x, weight, bias), grad.view());
  EXPECT_FALSE(x.grad());
  EXPECT_FALSE(bias.grad());
  EXPECT_TRUE(weight.grad());
  const NoGrad off;
  EXPECT_TRUE(layer_norm(Variable(numbers, true), weight, {}).is_leaf());
}

void expect_refused(const std::function<void()>& call, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "accepted; expected: " << text;
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr(text));
  }
}

TEST(NormsBadInput, IsNamedWithItsRemedy) {
  const auto zeros = [](DType dtype, const Shape& shape) {
    return Variable(Tensor::zeros(dtype, shape));
  };
  const Variable x = zeros(DType::float32, {2, 5}), row = zeros(DType::float32, {5});
  expect_refused([&] { layer_norm({}, row, row); }, "[layer_norm] x is missing");
  expect_refused([&] { rms_norm({}, row); }, "[rms_norm] x is missing");
  expect_refused([&] { layer_norm(zeros(DType::float32, {}), {}, {}); },
                 "x () must have shape (..., C)");
  expect_refused([&] { layer_norm(x, zeros(DType::float32, {4}), {}); },
                 "weight (4,) must have shape (C) = (5,)");
  expect_refused([&] { layer_norm(x, row, zeros(DType::float32, {1, 5})); },
                 "bias (1,5) must have shape (C) = (5,)");
  expect_refused([&] { layer_norm(zeros(DType::float16, {2, 5}), {}, {}); },
                 "x is float16; it must be float32, bfloat16 or float64");
  expect_refused([&] { rms_norm(x, zeros(DType::float64, {5})); },
                 "weight is float64 beside float32; float64 goes with float64 only");
  expect_refused([&] { layer_norm(x, row, row, {.epsilon = -1}); },
                 "epsilon=-1.000000 must be finite and not negative");
  expect_refused([&] { layer_norm(x, row, row, {.epsilon = std::nan("")}); }, "must be finite");
  expect_refused([&] { rms_norm(x, row, {.weight_offset = kInfinity}); },
                 "weight_offset=inf must be finite");
  expect_refused([&] { rms_norm(x, {}, {.weight_offset = 0.5}); },
                 "weight_offset=0.500000 needs a weight");
  expect_refused([&] { layer_norm(x, row, row, {.dtype = DType::float64}); },
                 "dtype float64 cannot be made of x float32");
  expect_refused([&] { layer_norm(x, row, row, {.dtype = DType::int32}); },
                 "dtype int32 cannot be made of x float32");
  expect_refused([&] { layer_norm(x, row, row, {.threads = -1}); }, "threads");
}

}  // namespace
}  // namespace volvelle
