#include "volvelle/ops/cross_entropy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/random_numbers.h"
#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/instruction_sets.h"
#include "support/products.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/autograd/tape.h"
#include "volvelle/base/error.h"
#include "volvelle/base/memory_reuse.h"
#include "volvelle/ops/activate.h"
#include "volvelle/ops/linear_variable.h"
#include "volvelle/ops/reshape.h"
#include "volvelle/ops/rows.h"
#include "volvelle/ops/scale.h"

namespace volvelle {
namespace {

using testing::filled;
using testing::laid_out;
using testing::Layout;
using testing::listed;
using testing::product_difference;
using testing::values_of;

class CrossEntropy : public testing::OnEveryInstructionSet {};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The formula in double: (1 - e) * -log p[label] + e * mean of -log p.
struct Oracle {
  double loss = 0;
  std::vector<double> grad, terms;

  Oracle(const std::vector<double>& x, const std::vector<double>& labels, double ignored,
         double smoothing, double count) {
    const std::size_t width = labels.empty() ? 1 : x.size() / labels.size();
    grad.resize(x.size());
    terms.resize(x.size());
    double counted = 0;
    for (const double label : labels) counted += label != ignored;
    if (count == 0) count = counted == 0 ? 1 : counted;
    for (std::size_t r = 0; r < labels.size(); ++r) {
      if (labels[r] == ignored) continue;
      const double* row = x.data() + r * width;
      double largest = -kInfinity, sum = 0;
      for (std::size_t j = 0; j < width; ++j) largest = std::max(largest, row[j]);
      for (std::size_t j = 0; j < width; ++j) sum += std::exp(row[j] - largest);
      for (std::size_t j = 0; j < width; ++j) {
        const double log_p = row[j] - largest - std::log(sum);
        const double target = (static_cast<double>(j) == labels[r] ? 1 - smoothing : 0) +
                              smoothing / static_cast<double>(width);
        if (target > 0) loss -= target * log_p / count;
        grad[r * width + j] = (std::exp(log_p) - target) / count;
        terms[r * width + j] =
            (std::exp(log_p) * (1 + std::fabs(row[j] - largest)) + target) / count;
      }
    }
  }
};

Tensor normal(DType dtype, const Shape& shape, RandomNumbers& random, double spread = 1) {
  return filled(dtype, shape, [&] { return spread * random.normal(); });
}

Tensor random_labels(std::int64_t rows, std::int64_t classes, RandomNumbers& random,
                     DType dtype = DType::int64) {
  return filled(dtype, {rows}, [&] {
    return random.one_in(5) ? -100.0 : static_cast<double>(random.below(classes));
  });
}

double value_of(const Variable& scalar) { return values_of(scalar.view()).at(0); }

std::string difference(const Tensor& x, const Tensor& labels, const CrossEntropyOptions& options) {
  const Variable logits(x, true);
  const Variable loss = cross_entropy(logits, labels.view(), options);
  backward(loss);
  const Oracle right(values_of(x.view()), values_of(labels.view()),
                     static_cast<double>(options.ignore_index), options.label_smoothing,
                     static_cast<double>(options.count));
  const std::int64_t width = x.shape()[x.rank() - 1];
  std::string wrong;
  if (std::fabs(value_of(loss) - right.loss) > 4e-7 * (1 + std::fabs(right.loss))) {
    wrong = "loss " + std::to_string(value_of(loss)) + ", not " + std::to_string(right.loss);
  }
  return wrong + product_difference(logits.grad().view(), right.grad, right.terms, width);
}

TEST_P(CrossEntropy, AgreesWithTheFormulaForAnySizeAndOption) {
  RandomNumbers random(1);
  for (const std::int64_t width : {1, 3, 17, 64, 65, 1000, 4099, 9001}) {
    for (const std::int64_t rows : {1, 7}) {
      for (const double smoothing : {0.0, 0.1, 0.9}) {
        for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64}) {
          const Tensor x = normal(dtype, {rows, width}, random, 3);
          const Tensor labels = random_labels(rows, width, random);
          EXPECT_EQ(difference(x, labels, {.label_smoothing = smoothing}), "")
              << rows << " x " << width << ", smoothing " << smoothing << ", " << name_of(dtype);
        }
      }
    }
  }
}

TEST_P(CrossEntropy, AComparisonWithAnotherTargetFails) {
  RandomNumbers random(2);
  const Tensor x = normal(DType::float32, {4, 30}, random);
  const Tensor labels = listed(DType::int64, {4}, {0, 29, 5, 6});
  const Variable logits(x, true);
  const Variable loss = cross_entropy(logits, labels.view());
  backward(loss);
  const Oracle right(values_of(x.view()), {0, 29, 5, 7}, -100, 0, 0);
  EXPECT_GT(std::fabs(value_of(loss) - right.loss), 1e-3);
  EXPECT_NE(product_difference(logits.grad().view(), right.grad, right.terms, 30), "");
  const Oracle smooth(values_of(x.view()), {0, 29, 5, 6}, -100, 1e-4, 0);
  EXPECT_NE(product_difference(logits.grad().view(), smooth.grad, smooth.terms, 30), "");
}

TEST_P(CrossEntropy, ACountOfAWholeBatchDividesAShard) {
  RandomNumbers random(3);
  const Tensor x = normal(DType::float32, {5, 11}, random);
  const Tensor labels = random_labels(5, 11, random);
  EXPECT_EQ(difference(x, labels, {.count = 12}), "");
}

TEST_P(CrossEntropy, ALossNearZeroDoesNotDrownInLargeLogits) {
  const Variable logits(listed(DType::float32, {1, 2}, {30000, 29990}), true);
  const Variable loss = cross_entropy(logits, listed(DType::int32, {1}, {0}).view());
  EXPECT_NEAR(value_of(loss), std::log1p(std::exp(-10)), 6e-8);
}

TEST_P(CrossEntropy, ClassesExcludedByInfinityHaveNoShare) {
  // More of them in front than a piece of the row holds.
  Tensor x = filled(DType::float32, {1, 5000}, [] { return -kInfinity; });
  x.data<float>()[4998] = 1;
  x.data<float>()[4999] = 2;
  const Variable logits(x, true);
  const Variable loss = cross_entropy(logits, listed(DType::int32, {1}, {4999}).view());
  EXPECT_NEAR(value_of(loss), std::log1p(std::exp(-1)), 1e-7);
  backward(loss);
  const std::vector<double> grad = values_of(logits.grad().view());
  EXPECT_EQ(grad[0], 0);
  EXPECT_NEAR(grad[4998], 1 / (1 + std::exp(1)), 1e-7);
  EXPECT_NEAR(grad[4999], -1 / (1 + std::exp(1)), 1e-7);
}

TEST_P(CrossEntropy, NaNStaysInItsRowAndIgnoredRowsDoNotCount) {
  const double nan = std::nan("");
  const Variable logits(listed(DType::float32, {3, 2}, {1, 2, nan, 1, nan, nan}), true);
  const Variable loss = cross_entropy(logits, listed(DType::int32, {3}, {0, 0, -100}).view());
  EXPECT_TRUE(std::isnan(value_of(loss)));
  backward(loss);
  const std::vector<double> grad = values_of(logits.grad().view());
  EXPECT_NEAR(grad[0], -0.5 / (1 + std::exp(-1)), 1e-7);
  EXPECT_TRUE(std::isnan(grad[2]) && std::isnan(grad[3]));
  EXPECT_EQ(grad[4], 0);
  EXPECT_EQ(grad[5], 0);
  const Variable clean(listed(DType::float32, {2, 2}, {1, 2, nan, nan}));
  EXPECT_TRUE(
      std::isfinite(value_of(cross_entropy(clean, listed(DType::int32, {2}, {0, -100}).view()))));
}

TEST_P(CrossEntropy, ThreadsChangeNoBit) {
  RandomNumbers random(4);
  const Tensor x = normal(DType::float32, {401, 257}, random);
  const Tensor labels = random_labels(401, 257, random);
  std::vector<double> first;
  for (const int threads : {1, 2, 8}) {
    const Variable logits(x, true);
    const Variable loss =
        cross_entropy(logits, labels.view(), {.label_smoothing = 0.1, .threads = threads});
    backward(loss);
    std::vector<double> all = values_of(logits.grad().view());
    all.push_back(value_of(loss));
    if (first.empty()) first = all;
    EXPECT_TRUE(all == first) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Simd, CrossEntropy, ::testing::ValuesIn(simd_targets()),
                         [](const auto& test) { return test.param; });

TEST(CrossEntropyLabels, OfEveryIntegerDtypeAndLayout) {
  RandomNumbers random(5);
  const Tensor x = normal(DType::float32, {2, 3, 9}, random);
  const std::vector<double> numbers{0, 8, 3, 1, 100, 7};
  double first = 0;
  for (const DType dtype : {DType::int64, DType::int32, DType::int16, DType::int8, DType::uint8,
                            DType::uint16, DType::uint32, DType::uint64}) {
    const Tensor labels = listed(dtype, {2, 3}, numbers);
    const double loss = value_of(cross_entropy(Variable(x), labels.view(), {.ignore_index = 100}));
    if (first == 0) first = loss;
    EXPECT_EQ(loss, first) << name_of(dtype);
    EXPECT_EQ(counted_labels(labels.view(), 100), 5);
    const testing::LaidOut strided = laid_out(labels, Layout::reversed);
    EXPECT_EQ(value_of(cross_entropy(Variable(x), strided.view, {.ignore_index = 100})), first);
  }
}

TEST(CrossEntropyLabels, AllIgnoredIsALossOfZero) {
  RandomNumbers random(6);
  for (const std::int64_t rows : {0, 3}) {
    const Variable logits(normal(DType::float32, {rows, 9}, random), true);
    const Tensor labels = filled(DType::int64, {rows}, [] { return -100; });
    const Variable loss = cross_entropy(logits, labels.view(), {.label_smoothing = 0.1});
    EXPECT_EQ(value_of(loss), 0);
    EXPECT_EQ(counted_labels(labels.view()), 0);
    backward(loss);
    EXPECT_EQ(values_of(logits.grad().view()),
              std::vector<double>(static_cast<std::size_t>(rows) * 9, 0.0));
  }
}

TEST(CrossEntropyGradient, AgreesWithCentralDifferences) {
  const Tensor labels = listed(DType::int64, {2, 3}, {0, 4, -100, 2, 2, 1});
  for (const DType dtype : {DType::float64, DType::float32}) {
    for (const double smoothing : {0.0, 0.2}) {
      for (const std::int64_t count : {0, 9}) {
        testing::expect_gradients(
            [&](const auto& v) {
              return cross_entropy(v[0], labels.view(),
                                   {.label_smoothing = smoothing, .count = count});
            },
            {testing::normal_input({2, 3, 5}, 1)}, {.dtype = dtype});
      }
    }
  }
}

/// 2x, by an operator that remembers where its result and the result's gradient were.
struct Witness {
  const void* result = nullptr;
  const void* gradient = nullptr;

  Variable doubled(const Variable& x) {
    Tensor y = twice(x.view());
    result = y.raw();
    return record("doubled", std::move(y), {x}, [this](GradientPass& pass) {
      gradient = pass.grad_output().data();
      pass.give(0, twice(pass.grad_output()));
    });
  }

  static Tensor twice(const View& view) {
    return filled(view.dtype(), view.shape(),
                  [n = std::size_t{0}, all = values_of(view)]() mutable { return 2 * all[n++]; });
  }
};

TEST(CrossEntropyMemory, LogitsThatNobodyHoldsBecomeTheirGradient) {
  RandomNumbers random(7);
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64}) {
    Variable x(normal(dtype, {3, 40}, random), true);
    const Tensor labels = random_labels(3, 40, random);
    Witness alone, held;
    const Variable loss = cross_entropy(alone.doubled(x), labels.view());
    backward(loss);
    EXPECT_EQ(alone.gradient, alone.result) << name_of(dtype);
    const std::vector<double> in_place = values_of(x.grad().view());
    x.clear_grad();

    const Variable logits = held.doubled(x);
    const std::vector<double> before = values_of(logits.view());
    backward(cross_entropy(logits, labels.view()));
    EXPECT_NE(held.gradient, held.result);
    EXPECT_NE(held.gradient, nullptr);
    EXPECT_EQ(values_of(logits.view()), before);  // the caller's logits are as they were
    EXPECT_EQ(values_of(x.grad().view()), in_place);
  }
}

// Most bytes of tensors at once during a head and its loss, there and back, over those of the
// logits.
double share_of_logits(bool held) {
  constexpr std::int64_t kRows = 1024, kClasses = 50257, kWidth = 4;
  RandomNumbers random(10);
  const Variable x(normal(DType::float32, {kRows, kWidth}, random), true);
  const Variable weight(normal(DType::float32, {kClasses, kWidth}, random), true);
  const Tensor labels = random_labels(kRows, kClasses, random);
  const MemoryReuse memory;
  const ReuseScope scope(memory);
  Variable logits = linear(x, weight);
  const Variable loss = cross_entropy(logits, labels.view());
  if (!held) logits = {};
  backward(loss);
  return static_cast<double>(memory.peak_bytes()) / (sizeof(float) * kRows * kClasses);
}

TEST(CrossEntropyMemory, AVocabularyOf50257NeedsItsLogitsOnce) {
  EXPECT_LT(share_of_logits(false), 1.1);
  EXPECT_GT(share_of_logits(true), 2);  // control: who holds them pays for a second array
}

TEST(CrossEntropyMemory, LogitsThatAnotherOperatorReadAreKept) {
  RandomNumbers random(8);
  Variable x(normal(DType::float32, {3, 10}, random), true);
  const Tensor labels = listed(DType::int64, {3}, {1, 2, 3});
  Witness witness;
  backward(cross_entropy(witness.doubled(x), labels.view()));
  const std::vector<double> once = values_of(x.grad().view());
  x.clear_grad();
  Variable loss;
  {
    const Variable logits = witness.doubled(x);
    const Variable a = cross_entropy(logits, labels.view());
    const Variable b = cross_entropy(logits, labels.view());
    // Both losses, summed by hand: each gets the gradient 1.
    Tensor sum(DType::float32, {});
    sum.data<float>()[0] = a.value().data<float>()[0] + b.value().data<float>()[0];
    loss = record("sum", sum, {a, b}, [](GradientPass& pass) {
      for (const int i : {0, 1}) {
        static_cast<float*>(pass.slot(i).to.data())[0] =
            static_cast<const float*>(pass.grad_output().data())[0];
      }
    });
  }
  backward(loss);
  EXPECT_NE(witness.gradient, witness.result);
  const std::vector<double> both = values_of(x.grad().view());
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(both[i], 2 * once[i]);
}

// Rows are part of a larger array, whose other holders the rows know nothing of.
TEST(CrossEntropyMemory, RowsOfWhatOthersHoldAreKept) {
  const std::vector<std::int64_t> labels = {1, 0};
  const View of_two(labels.data(), {2});
  Variable leaf(testing::normal_floats({3, 4}, 1), true);
  const std::vector<double> before = values_of(leaf.view());
  backward(cross_entropy(rows(leaf, 0, 2), of_two));
  EXPECT_EQ(values_of(leaf.view()), before);

  const Variable held = scale(leaf, 1);
  backward(cross_entropy(reshape(rows(held, 1, 2), {2, 4}), of_two));
  EXPECT_EQ(values_of(held.view()), before);

  // ReLU goes back by the result that the rows show.
  testing::expect_gradients(
      [&](const std::vector<Variable>& in) {
        return cross_entropy(rows(activate(in[0], Activation::relu), 1, 2), of_two);
      },
      {testing::normal_input({3, 4}, 5)});
}

TEST(CrossEntropyMemory, AnEvaluationSavesNothing) {
  RandomNumbers random(9);
  const Variable x(normal(DType::float32, {3, 10}, random), true);
  const NoGrad off;
  EXPECT_TRUE(cross_entropy(x, listed(DType::int64, {3}, {1, 2, 3}).view()).is_leaf());
}

void expect_refused(const std::function<void()>& call, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "accepted; expected: " << text;
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr(text));
  }
}

TEST(CrossEntropyBadInput, IsNamedWithItsPlace) {
  const Variable x(Tensor::zeros(DType::float32, {2, 3, 5}));
  const auto loss = [&](const std::vector<double>& labels,
                        const CrossEntropyOptions& options = {}) {
    return [&x, labels, options] {
      cross_entropy(x, listed(DType::int64, {2, 3}, labels).view(), options);
    };
  };
  expect_refused(loss({0, 1, 2, 3, 5, 4}),
                 "[cross_entropy] label 5 at (1,1) of labels (2,3) is outside [0, 5)");
  expect_refused(loss({0, -1, 2, 3, 4, 4}), "label -1 at (0,1) of labels (2,3) is outside [0, 5)");
  expect_refused(loss({0, -100, 2, 3, 4, 4}, {.ignore_index = -1}),
                 "rows that shall not count are labelled ignore_index=-1");
  expect_refused(loss({0, 0, 0, 0, 0, 0}, {.label_smoothing = 1}),
                 "label_smoothing=1.000000 must be in [0, 1)");
  expect_refused(loss({0, 0, 0, 0, 0, 0}, {.label_smoothing = std::nan("")}), "must be in [0, 1)");
  expect_refused(loss({0, 0, 0, 0, 0, 0}, {.count = -3}), "count=-3 must be positive, or 0");
  expect_refused(loss({0, 0, 0, 0, 0, 0}, {.threads = -2}), "threads");
  const Tensor labels = Tensor::zeros(DType::int64, {2, 3});
  expect_refused([&] { cross_entropy({}, labels.view()); }, "logits is missing");
  expect_refused([&] { cross_entropy(x, {}); }, "labels are missing");
  expect_refused([&] { counted_labels({}); }, "[counted_labels] labels are missing");
  expect_refused([&] { cross_entropy(x, Tensor::zeros(DType::int64, {3, 2}).view()); },
                 "labels (3,2) must have shape (...)");
  expect_refused([&] { cross_entropy(x, Tensor::zeros(DType::float32, {2, 3}).view()); },
                 "labels are float32; they must be integers");
  expect_refused([&] { cross_entropy(x, Tensor::zeros(DType::boolean, {2, 3}).view()); },
                 "labels are bool; they must be integers");
  expect_refused([&] { cross_entropy(x, View(static_cast<const std::int64_t*>(nullptr), {2, 3})); },
                 "has elements but its pointer is null");
  expect_refused([&] { cross_entropy(Variable(Tensor::zeros(DType::int64, {2, 5})), {}); },
                 "logits is int64; it must be float32, bfloat16 or float64");
  expect_refused([&] { cross_entropy(Variable(Tensor::zeros(DType::float32, {})), {}); },
                 "logits () must have shape (..., V)");
  expect_refused(
      [&] {
        cross_entropy(Variable(Tensor::zeros(DType::float32, {2, 0})),
                      Tensor::zeros(DType::int64, {2}).view());
      },
      "logits (2,0) has no classes");
  // 2^64 - 100 is no marker.
  const std::vector<std::uint64_t> huge(6, ~std::uint64_t{0} - 99);
  expect_refused([&] { cross_entropy(x, View(huge.data(), {2, 3})); },
                 "label 9223372036854775807 at (0,0)");
}

}  // namespace
}  // namespace volvelle
