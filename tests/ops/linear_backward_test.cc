#include "volvelle/ops/linear_backward.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/random_numbers.h"
#include "support/arrays.h"
#include "support/instruction_sets.h"
#include "support/products.h"

namespace volvelle {
namespace {

using testing::filled;
using testing::laid_out;
using testing::Layout;
using testing::ProductOracle;
using testing::transposed;
using testing::values_of;

class LinearBackward : public testing::OnEveryInstructionSet {};

Tensor normal(DType dtype, const Shape& shape, RandomNumbers& random) {
  return filled(dtype, shape, [&] { return random.normal(); });
}

struct Sizes {
  std::int64_t rows, outputs, inputs;
};
const std::vector<Sizes> kSizes{{1, 1, 1},     {2, 33, 70}, {27, 257, 31}, {300, 40, 65},
                                {515, 14, 27}, {0, 3, 4},   {3, 0, 4},     {3, 4, 0}};

std::string named(const Sizes& s) {
  return std::to_string(s.rows) + " x " + std::to_string(s.outputs) + " x " +
         std::to_string(s.inputs);
}

TEST_P(LinearBackward, InputGradientFromPackedAndPlainWeights) {
  RandomNumbers random(1);
  for (const Sizes& s : kSizes) {
    for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
      const Tensor dy = normal(DType::float32, {s.rows, s.outputs}, random);
      const Tensor w = normal(dtype, {s.outputs, s.inputs}, random);
      const ProductOracle right(values_of(dy.view()), values_of(w.view()), s.rows, s.outputs,
                                s.inputs);
      Tensor packed(DType::float32, {s.rows, s.inputs}), plain(DType::float32, {s.rows, s.inputs});
      linear_backward_input(dy.view(), PackedWeights(w.view()), packed.mutable_view(),
                            {.threads = 2});
      linear_backward_input(dy.view(), w.view(), plain.mutable_view());
      EXPECT_EQ(testing::product_difference(packed.view(), right.sums, right.terms, s.outputs), "")
          << named(s) << " " << name_of(dtype);
      EXPECT_EQ(values_of(packed.view()), values_of(plain.view())) << named(s);
    }
  }
}

TEST_P(LinearBackward, WeightAndBiasGradients) {
  RandomNumbers random(2);
  for (const Sizes& s : kSizes) {
    const Tensor dy = normal(DType::float32, {s.rows, s.outputs}, random);
    const Tensor x = normal(DType::bfloat16, {s.rows, s.inputs}, random);
    ProductOracle weights(transposed(values_of(dy.view()), s.rows, s.outputs), values_of(x.view()),
                          s.outputs, s.rows, s.inputs);
    ProductOracle bias(std::vector<double>(static_cast<std::size_t>(s.rows), 1),
                       values_of(dy.view()), 1, s.rows, s.outputs);
    Tensor dw(DType::float32, {s.outputs, s.inputs}), db(DType::float32, {s.outputs});
    linear_backward_weights(dy.view(), x.view(), dw.mutable_view(), {.threads = 2});
    linear_backward_bias(dy.view(), db.mutable_view());
    EXPECT_EQ(testing::product_difference(dw.view(), weights.sums, weights.terms, s.rows), "")
        << named(s);
    EXPECT_EQ(testing::product_difference(db.view(), bias.sums, bias.terms, s.rows), "")
        << named(s);
    // Once more on top: twice the gradient.
    linear_backward_weights(dy.view(), x.view(), dw.mutable_view(), {.store = Store::accumulate});
    linear_backward_bias(dy.view(), db.mutable_view(), {.store = Store::accumulate});
    for (double& sum : weights.sums) sum *= 2;
    for (double& sum : bias.sums) sum *= 2;
    for (double& term : weights.terms) term *= 2;
    for (double& term : bias.terms) term *= 2;
    EXPECT_EQ(testing::product_difference(dw.view(), weights.sums, weights.terms, s.rows), "");
    EXPECT_EQ(testing::product_difference(db.view(), bias.sums, bias.terms, s.rows), "");
  }
}

// Leading axes that no single stride walks are summed over all the same.
TEST_P(LinearBackward, SumsOverLeadingAxesOfAnyLayout) {
  RandomNumbers random(3);
  const Tensor dy = normal(DType::float32, {3, 2, 7, 10}, random);
  const Tensor x = normal(DType::float32, {3, 2, 7, 12}, random);
  const ProductOracle weights(transposed(values_of(dy.view()), 42, 10), values_of(x.view()), 10, 42,
                              12);
  const ProductOracle bias(std::vector<double>(42, 1), values_of(dy.view()), 1, 42, 10);
  for (const Layout layout :
       {Layout::contiguous, Layout::bthd, Layout::fused, Layout::reversed, Layout::gapped}) {
    const auto laid_dy = laid_out(dy, layout);
    const auto laid_x = laid_out(x, layout);
    Tensor dw(DType::float32, {10, 12}), db(DType::float32, {10});
    linear_backward_weights(laid_dy.view, laid_x.view, dw.mutable_view());
    linear_backward_bias(laid_dy.view, db.mutable_view());
    EXPECT_EQ(testing::product_difference(dw.view(), weights.sums, weights.terms, 42), "");
    EXPECT_EQ(testing::product_difference(db.view(), bias.sums, bias.terms, 42), "");
  }
}

// Of every dtype, broadcast rows and columns included; the layout does not change a bit.
TEST_P(LinearBackward, BiasGradientOfAnyLayoutAndDtype) {
  RandomNumbers random(5);
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16}) {
    const DType stored = dtype == DType::float64 ? dtype : DType::float32;
    const Tensor dy = normal(dtype, {300, 70}, random);
    const ProductOracle right(std::vector<double>(300, 1), values_of(dy.view()), 1, 300, 70);
    Tensor wanted(stored, {70});
    linear_backward_bias(dy.view(), wanted.mutable_view());
    EXPECT_EQ(testing::product_difference(wanted.view(), right.sums, right.terms, 300), "");
    for (const Layout layout : {Layout::reversed, Layout::gapped}) {
      const auto laid = laid_out(dy, layout);
      Tensor db(stored, {70});
      linear_backward_bias(laid.view, db.mutable_view());
      EXPECT_EQ(std::memcmp(db.raw(), wanted.raw(), db.bytes()), 0) << name_of(dtype);
    }
    Tensor same(stored, {70}), repeated(stored, {3});
    linear_backward_bias(View(dy.raw(), dtype, {4, 70}, {0, 1}), same.mutable_view());
    linear_backward_bias(View(dy.raw(), dtype, {4, 3}, {1, 0}), repeated.mutable_view());
    const std::vector<double> row = values_of(dy.view());
    for (std::size_t c = 0; c < 70; ++c) EXPECT_EQ(values_of(same.view())[c], 4 * row[c]);
    const std::vector<double> sums = values_of(repeated.view());
    EXPECT_NEAR(sums[0], row[0] + row[1] + row[2] + row[3], 1e-5);
    EXPECT_EQ(sums[0], sums[1]);
    EXPECT_EQ(sums[0], sums[2]);
  }
}

TEST_P(LinearBackward, BitsDoNotDependOnThreads) {
  RandomNumbers random(4);
  const Tensor dy = normal(DType::float32, {400, 270}, random);
  const Tensor x = normal(DType::float32, {400, 130}, random);
  const Tensor w = normal(DType::float32, {270, 130}, random);
  const PackedWeights packed(w.view());
  Tensor dx1(DType::float32, {400, 130}), dw1(DType::float32, {270, 130}),
      db1(DType::float32, {270});
  linear_backward_input(dy.view(), packed, dx1.mutable_view(), {.threads = 1});
  linear_backward_weights(dy.view(), x.view(), dw1.mutable_view(), {.threads = 1});
  linear_backward_bias(dy.view(), db1.mutable_view(), {.threads = 1});
  for (int threads = 2; threads <= 8; ++threads) {
    Tensor dx(DType::float32, {400, 130}), dw(DType::float32, {270, 130}),
        db(DType::float32, {270});
    linear_backward_input(dy.view(), packed, dx.mutable_view(), {.threads = threads});
    linear_backward_weights(dy.view(), x.view(), dw.mutable_view(), {.threads = threads});
    linear_backward_bias(dy.view(), db.mutable_view(), {.threads = threads});
    EXPECT_EQ(std::memcmp(dx.raw(), dx1.raw(), dx.bytes()), 0);
    EXPECT_EQ(std::memcmp(dw.raw(), dw1.raw(), dw.bytes()), 0);
    EXPECT_EQ(std::memcmp(db.raw(), db1.raw(), db.bytes()), 0);
  }
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Ops, LinearBackward);

}  // namespace
}  // namespace volvelle
