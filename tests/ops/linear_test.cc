#include "volvelle/ops/linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
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
using testing::values_of;

class Linear : public testing::OnEveryInstructionSet {};

Tensor normal(DType dtype, const Shape& shape, RandomNumbers& random) {
  return filled(dtype, shape, [&] { return random.normal(); });
}

struct Sizes {
  std::int64_t rows, outputs, inputs;
};

// One past and one short of every block: rows of registers (13, 6), panels (32), tasks (260 rows,
// 256 columns), depth (256); one, odd, none.
const std::vector<Sizes> kSizes{
    {1, 1, 1},     {1, 33, 7},     {2, 31, 257},  {3, 129, 64},  {5, 32, 255}, {6, 100, 256},
    {7, 65, 513},  {8, 96, 300},   {13, 64, 31},  {14, 257, 40}, {26, 34, 2},  {27, 40, 520},
    {53, 300, 19}, {261, 35, 270}, {521, 33, 12}, {4, 5, 0},     {0, 5, 4},    {4, 0, 5}};

TEST_P(Linear, AgreesWithTheFormulaForAnySize) {
  RandomNumbers random(1);
  for (const Sizes& s : kSizes) {
    const Tensor x = normal(DType::float32, {s.rows, s.inputs}, random);
    const Tensor w = normal(DType::float32, {s.outputs, s.inputs}, random);
    Tensor y(DType::float32, {s.rows, s.outputs});
    linear(x.view(), PackedWeights(w.view()), y.mutable_view(), {.threads = 2});
    ProductOracle right(values_of(x.view()),
                        testing::transposed(values_of(w.view()), s.outputs, s.inputs), s.rows,
                        s.inputs, s.outputs);
    EXPECT_EQ(testing::product_difference(y.view(), right.sums, right.terms, s.inputs), "")
        << s.rows << " x " << s.outputs << " x " << s.inputs;
    if (right.sums.empty() || s.inputs == 0) continue;
    // Control: one term of one sum forgotten must be seen.
    right.sums.back() -= right.terms.back() / static_cast<double>(s.inputs);
    EXPECT_NE(testing::product_difference(y.view(), right.sums, right.terms, s.inputs), "");
  }
}

TEST_P(Linear, TakesEveryPairOfDtypes) {
  RandomNumbers random(2);
  const DType dtypes[] = {DType::float32, DType::bfloat16, DType::float16};
  const Sizes s{9, 70, 515};
  for (const DType x_dtype : dtypes) {
    for (const DType w_dtype : dtypes) {
      for (const DType y_dtype : dtypes) {
        const Tensor x = normal(x_dtype, {s.rows, s.inputs}, random);
        const Tensor w = normal(w_dtype, {s.outputs, s.inputs}, random);
        const Tensor bias = normal(w_dtype, {s.outputs}, random);
        const Tensor residual = normal(x_dtype, {s.rows, s.outputs}, random);
        Tensor y(y_dtype, {s.rows, s.outputs});
        linear(x.view(), PackedWeights(w.view()), y.mutable_view(),
               {.bias = bias.view(), .residual = residual.view()});
        ProductOracle right(values_of(x.view()),
                            testing::transposed(values_of(w.view()), s.outputs, s.inputs), s.rows,
                            s.inputs, s.outputs);
        const std::vector<double> b = values_of(bias.view());
        const std::vector<double> r = values_of(residual.view());
        for (std::size_t i = 0; i < r.size(); ++i) right.sums[i] += b[i % b.size()] + r[i];
        EXPECT_EQ(testing::product_difference(y.view(), right.sums, right.terms, s.inputs), "")
            << name_of(x_dtype) << " x " << name_of(w_dtype) << " to " << name_of(y_dtype);
      }
    }
  }
}

// The weights' format decides the stored numbers: a narrower one rounds, a wider one keeps.
TEST_P(Linear, WeightsArePackedIntoTheFormatAskedFor) {
  RandomNumbers random(3);
  const Tensor x = normal(DType::float32, {3, 77}, random);
  const Tensor w = normal(DType::float32, {40, 77}, random);
  const Tensor rounded = converted(w.view(), DType::bfloat16);
  Tensor y(DType::float32, {3, 40}), same(DType::float32, {3, 40}), wide(DType::float32, {3, 40});
  const PackedWeights narrow(w.view(), WeightFormat::bfloat16);
  EXPECT_EQ(narrow.format(), WeightFormat::bfloat16);
  EXPECT_EQ(narrow.bytes(), 2u * 64 * 96);  // two panels, of a multiple of 32 inputs each
  linear(x.view(), narrow, y.mutable_view());
  linear(x.view(), PackedWeights(rounded.view()), same.mutable_view());
  linear(x.view(), PackedWeights(rounded.view(), WeightFormat::float32), wide.mutable_view());
  EXPECT_EQ(values_of(y.view()), values_of(same.view()));
  EXPECT_EQ(values_of(y.view()), values_of(wide.view()));
  linear(x.view(), PackedWeights(w.view()), same.mutable_view());
  EXPECT_NE(values_of(y.view()), values_of(same.view()));
}

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::gelu:
      return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh:
      return x * 0.5 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::none:
      break;
  }
  return x;
}

constexpr Activation kActivations[] = {Activation::none, Activation::relu, Activation::gelu,
                                       Activation::gelu_tanh, Activation::silu};

TEST_P(Linear, ActivatesBetweenBiasAndResidual) {
  RandomNumbers random(4);
  const Sizes s{15, 75, 30};
  const Tensor x = normal(DType::float32, {s.rows, s.inputs}, random);
  const Tensor w = normal(DType::float32, {s.outputs, s.inputs}, random);
  const Tensor bias = normal(DType::float32, {s.outputs}, random);
  const Tensor residual = normal(DType::float32, {s.rows, s.outputs}, random);
  const PackedWeights weights(w.view());
  const ProductOracle sums(values_of(x.view()),
                           testing::transposed(values_of(w.view()), s.outputs, s.inputs), s.rows,
                           s.inputs, s.outputs);
  const std::vector<double> b = values_of(bias.view());
  const std::vector<double> r = values_of(residual.view());
  for (const Activation activation : kActivations) {
    Tensor y(DType::float32, {s.rows, s.outputs});
    linear(x.view(), weights, y.mutable_view(),
           {.bias = bias.view(), .activation = activation, .residual = residual.view()});
    std::vector<double> right;
    for (std::size_t i = 0; i < r.size(); ++i) {
      right.push_back(activated(activation, sums.sums[i] + b[i % b.size()]) + r[i]);
    }
    EXPECT_EQ(testing::product_difference(y.view(), right, sums.terms, s.inputs, 1.2), "")
        << name_of(activation);
  }
}

TEST_P(Linear, GatesInOnePass) {
  RandomNumbers random(5);
  for (const Sizes& s : {Sizes{1, 40, 300}, Sizes{15, 75, 30}, Sizes{300, 290, 17}}) {
    const Tensor x = normal(DType::float32, {s.rows, s.inputs}, random);
    const Tensor gate = normal(DType::float32, {s.outputs, s.inputs}, random);
    const Tensor up = normal(DType::float32, {s.outputs, s.inputs}, random);
    const Tensor bias = normal(DType::float32, {s.outputs}, random);
    const Tensor gate_bias = normal(DType::float32, {s.outputs}, random);
    const PackedWeights weights = PackedWeights::gated(gate.view(), up.view());
    EXPECT_TRUE(weights.is_gated());
    EXPECT_EQ(weights.outputs(), s.outputs);
    const auto sums_of = [&](const Tensor& w) {
      return ProductOracle(values_of(x.view()),
                           testing::transposed(values_of(w.view()), s.outputs, s.inputs), s.rows,
                           s.inputs, s.outputs);
    };
    const ProductOracle gates = sums_of(gate);
    const ProductOracle ups = sums_of(up);
    const std::vector<double> b = values_of(bias.view());
    const std::vector<double> gb = values_of(gate_bias.view());
    for (const Activation activation : kActivations) {
      Tensor y(DType::float32, {s.rows, s.outputs});
      linear(x.view(), weights, y.mutable_view(),
             {.bias = bias.view(), .gate_bias = gate_bias.view(), .activation = activation});
      std::vector<double> right, terms;
      for (std::size_t i = 0; i < gates.sums.size(); ++i) {
        const double g = gates.sums[i] + gb[i % b.size()];
        const double u = ups.sums[i] + b[i % b.size()];
        right.push_back(activated(activation, g) * u);
        terms.push_back(gates.terms[i] * std::fabs(u) +
                        std::fabs(activated(activation, g)) * ups.terms[i]);
      }
      EXPECT_EQ(testing::product_difference(y.view(), right, terms, s.inputs, 1.2), "")
          << name_of(activation) << " " << s.rows;
    }
  }
}

std::vector<unsigned char> bytes_of(const Tensor& tensor) {
  std::vector<unsigned char> bytes(tensor.bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), tensor.raw(), bytes.size());
  return bytes;
}

// The bits of a row are those it has when it is alone, for every count of rows and threads.
TEST_P(Linear, ARowsBitsDependOnThatRowAlone) {
  RandomNumbers random(6);
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    const std::int64_t rows = 300, outputs = 99, inputs = 600;
    const Tensor x = normal(dtype, {rows, inputs}, random);
    const Tensor w = normal(dtype, {outputs, inputs}, random);
    const PackedWeights weights(w.view());
    Tensor alone(DType::float32, {rows, outputs});
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::size_t size = size_of(dtype);
      linear(View(static_cast<const std::byte*>(x.raw()) +
                      r * inputs * static_cast<std::int64_t>(size),
                  dtype, {1, inputs}),
             weights, MutableView(alone.data<float>() + r * outputs, {1, outputs}));
    }
    for (const std::int64_t count :
         {2, 3, 4, 5, 6, 7, 12, 13, 14, 25, 26, 27, 128, 259, 261, 300}) {
      for (int threads = 1; threads <= 8; ++threads) {
        Tensor y(DType::float32, {count, outputs});
        linear(View(x.raw(), dtype, {count, inputs}), weights, y.mutable_view(),
               {.threads = threads});
        ASSERT_EQ(std::memcmp(y.raw(), alone.raw(), y.bytes()), 0)
            << count << " rows, " << threads << " threads, " << name_of(dtype);
      }
    }
  }
}

TEST_P(Linear, HonoursStridesOfEveryArray) {
  RandomNumbers random(7);
  const Shape x_shape{2, 3, 5, 44}, y_shape{2, 3, 5, 37};
  const Tensor x = normal(DType::float32, x_shape, random);
  const Tensor w = normal(DType::float32, {37, 44}, random);
  const Tensor residual = normal(DType::float32, y_shape, random);
  Tensor plain(DType::float32, y_shape);
  linear(x.view(), PackedWeights(w.view()), plain.mutable_view(), {.residual = residual.view()});
  for (const Layout layout : {Layout::bthd, Layout::fused, Layout::reversed, Layout::gapped}) {
    const auto laid_x = laid_out(x, layout);
    const auto laid_w = laid_out(
        w, layout == Layout::bthd || layout == Layout::fused ? Layout::contiguous : layout);
    const auto laid_residual = laid_out(residual, layout);
    auto y = laid_out(plain, layout);
    Tensor first(DType::float32, y_shape);
    linear(laid_x.view, PackedWeights(laid_w.view), y.writable, {.residual = laid_residual.view});
    EXPECT_EQ(values_of(y.view), values_of(plain.view())) << static_cast<int>(layout);
    // What lies between the elements of y is not touched.
    const std::vector<double> before = values_of(laid_out(plain, layout).memory.view());
    const std::vector<double> after = values_of(y.memory.view());
    for (std::size_t i = 0; i < before.size(); ++i) {
      ASSERT_TRUE(before[i] == after[i] || (std::isnan(before[i]) && std::isnan(after[i])));
    }
  }
}

TEST_P(Linear, TransposedAndBroadcastInputsAreReadInPlace) {
  RandomNumbers random(8);
  const std::int64_t rows = 31, inputs = 300, outputs = 33;
  const Tensor x = normal(DType::float32, {inputs, rows}, random);
  const Tensor w = normal(DType::float32, {inputs, outputs}, random);
  const View xt(x.data<float>(), {rows, inputs}, {1, rows});
  const View wt(w.data<float>(), {outputs, inputs}, {1, outputs});
  const Tensor x_copy = copy_of(xt), w_copy = copy_of(wt);
  Tensor y(DType::float32, {rows, outputs}), wanted(DType::float32, {rows, outputs});
  linear(x_copy.view(), PackedWeights(w_copy.view()), wanted.mutable_view());
  linear(xt, PackedWeights(wt), y.mutable_view());
  EXPECT_EQ(bytes_of(y), bytes_of(wanted));
  // One row for all, one number for all, one bias for all.
  const float number = 0.5f;
  const View row(x_copy.data<float>(), {rows, inputs}, {0, 1});
  const View bias(&number, {outputs}, {0});
  const View residual(x_copy.data<float>(), {1, outputs});
  linear(row, PackedWeights(wt), y.mutable_view(), {.bias = bias, .residual = residual});
  const std::vector<double> first = values_of(wanted.view()), all = values_of(y.view());
  const std::vector<double> added = values_of(residual);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t c = i % static_cast<std::size_t>(outputs);
    ASSERT_NEAR(all[i], first[c] + 0.5 + added[c], 1e-5);
  }
}

// Two elements, billions apart: offsets are 64 bits wide.
TEST_P(Linear, StridesBeyond32Bits) {
  float x[2] = {2, 3};
  const std::int64_t far = std::int64_t{1} << 33;
  const float w[1] = {10};
  float y[2] = {};
  // Row 0 at x[0]; row 1 would be far away, so the view starts far before and has one row only.
  const View rows(x, {1, 2, 1}, {far, 1, far});
  linear(rows, PackedWeights(View(w, {1, 1}, {far, -far})),
         MutableView(y, {1, 2, 1}, {-far, 1, far}));
  EXPECT_EQ(y[0], 20);
  EXPECT_EQ(y[1], 30);
}

TEST_P(Linear, ResidualMayBeTheOutputItself) {
  RandomNumbers random(9);
  const Tensor x = normal(DType::float32, {30, 20}, random);
  const Tensor w = normal(DType::float32, {45, 20}, random);
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    const Tensor residual = normal(dtype, {30, 45}, random);
    Tensor wanted(dtype, {30, 45});
    linear(x.view(), PackedWeights(w.view()), wanted.mutable_view(), {.residual = residual.view()});
    Tensor y = copy_of(residual.view());
    linear(x.view(), PackedWeights(w.view()), y.mutable_view(), {.residual = y.view()});
    EXPECT_EQ(bytes_of(y), bytes_of(wanted));
  }
}

// NaN and infinity reach what they are summed into, nothing else: padding hides and spreads none.
TEST_P(Linear, NonFiniteNumbersReachTheirSumsOnly) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::int64_t rows = 15, outputs = 35, inputs = 19;
  for (const WeightFormat format :
       {WeightFormat::float32, WeightFormat::bfloat16, WeightFormat::float16}) {
    std::vector<float> x(rows * inputs, 1), w(outputs * inputs, 0), y(rows * outputs);
    x[7 * inputs + 18] = kInf;  // row 7: infinity times zeros
    w[34 * inputs + 18] = NAN;  // the last output
    w[3 * inputs + 5] = -kInf;  // output 3
    linear(View(x.data(), {rows, inputs}), PackedWeights(View(w.data(), {outputs, inputs}), format),
           MutableView(y.data(), {rows, outputs}));
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < outputs; ++c) {
        const float found = y[static_cast<std::size_t>(r * outputs + c)];
        if (r == 7 || c == 34) {
          EXPECT_TRUE(std::isnan(found)) << r << " " << c;
        } else {
          EXPECT_EQ(found, c == 3 ? -kInf : 0) << r << " " << c;
        }
      }
    }
  }
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Ops, Linear);

}  // namespace
}  // namespace volvelle
