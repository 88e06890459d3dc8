// Linear layers that multiply bfloat16: float32 weights rounded once, float32 sums.

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "ops/kept_packings.h"
#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/instruction_sets.h"
#include "support/products.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/ops/linear_variable.h"

namespace volvelle {
namespace {

using testing::normal_input;
using testing::product_difference;
using testing::ProductOracle;
using testing::transposed;
using testing::values_of;

constexpr DType kFloat = DType::float32, kHalf = DType::bfloat16;

Tensor normal(const Shape& shape, std::uint64_t seed, DType dtype = kFloat) {
  return converted(normal_input(shape, seed).view(), dtype);
}

// The numbers as bfloat16 holds them.
std::vector<double> as_bfloat16(const Tensor& tensor) {
  return values_of(converted(tensor.view(), kHalf).view());
}

class LinearBFloat16 : public testing::OnEveryInstructionSet {};

struct Sizes {
  std::int64_t rows, outputs, inputs;
};
const std::vector<Sizes> kSizes{{1, 1, 1}, {3, 33, 70}, {27, 100, 31}, {300, 40, 65}, {0, 3, 4}};

// Products of rounded operands, sums to float32's own precision: what is not rounded would show.
TEST_P(LinearBFloat16, MultipliesRoundedOperandsAndSumsInFloat) {
  for (const Sizes& s : kSizes) {
    for (const DType x_dtype : {kFloat, kHalf}) {
      for (const DType y_dtype : {kFloat, kHalf}) {
        Variable x(normal({s.rows, s.inputs}, 1, x_dtype), true);
        Variable w(normal({s.outputs, s.inputs}, 2), true), b(normal({s.outputs}, 3), true);
        const Tensor dy = normal({s.rows, s.outputs}, 4, y_dtype);
        const Variable y = linear(x, w, b, {.dtype = y_dtype, .compute = kHalf});
        EXPECT_EQ(y.dtype(), y_dtype);
        backward(y, dy.view());
        const std::vector<double> xs = as_bfloat16(x.value()), ws = as_bfloat16(w.value());
        const std::vector<double> gs = as_bfloat16(dy), bias = values_of(b.view());
        ProductOracle forward(xs, transposed(ws, s.outputs, s.inputs), s.rows, s.inputs, s.outputs);
        for (std::size_t i = 0; i < forward.sums.size(); ++i) {
          forward.sums[i] += bias[i % bias.size()];
          forward.terms[i] += 1;
        }
        const ProductOracle to_x(gs, ws, s.rows, s.outputs, s.inputs);
        const ProductOracle to_w(transposed(gs, s.rows, s.outputs), xs, s.outputs, s.rows,
                                 s.inputs);
        const ProductOracle to_b(std::vector<double>(static_cast<std::size_t>(s.rows), 1),
                                 values_of(dy.view()), 1, s.rows, s.outputs);
        EXPECT_EQ(product_difference(y.view(), forward.sums, forward.terms, s.inputs), "");
        EXPECT_EQ(product_difference(x.grad().view(), to_x.sums, to_x.terms, s.outputs), "");
        EXPECT_EQ(product_difference(w.grad().view(), to_w.sums, to_w.terms, s.rows), "");
        EXPECT_EQ(product_difference(b.grad().view(), to_b.sums, to_b.terms, s.rows), "");
        EXPECT_EQ(x.grad().dtype(), x_dtype);
        EXPECT_EQ(w.grad().dtype(), kFloat);
        // Control: operands that are not rounded.
        if (s.rows * s.inputs < 100 || x_dtype == kHalf || y_dtype == kHalf) continue;
        const ProductOracle plain(values_of(x.view()),
                                  transposed(values_of(w.view()), s.outputs, s.inputs), s.rows,
                                  s.inputs, s.outputs);
        EXPECT_NE(product_difference(linear(x, w, {}, {.compute = kHalf}).view(), plain.sums,
                                     plain.terms, s.inputs),
                  "");
      }
    }
  }
}

// The gradient of a float32 layer, to a few roundings to bfloat16.
TEST_P(LinearBFloat16, GradientsAreThoseOfFloat32ToAFewRoundings) {
  for (const bool gated : {false, true}) {
    std::vector<std::vector<double>> found[2];
    for (const DType compute : {kFloat, kHalf}) {
      Variable x(normal({20, 30}, 1), true), w(normal({25, 30}, 2), true);
      Variable up(normal({25, 30}, 3), true), b(normal({25}, 4), true);
      const Variable y =
          gated ? gated_linear(x, w, up, b, {}, {.compute = compute})
                : linear(x, w, b, {.activation = Activation::gelu_tanh, .compute = compute});
      backward(y, normal({20, 25}, 5).view());
      auto& mine = found[compute == kHalf];
      mine = {values_of(y.view()), values_of(x.grad().view()), values_of(w.grad().view()),
              values_of(b.grad().view())};
      if (gated) mine.push_back(values_of(up.grad().view()));
    }
    for (std::size_t a = 0; a < found[0].size(); ++a) {
      double apart = 0, size = 0;
      for (std::size_t i = 0; i < found[0][a].size(); ++i) {
        apart += (found[0][a][i] - found[1][a][i]) * (found[0][a][i] - found[1][a][i]);
        size += found[0][a][i] * found[0][a][i];
      }
      EXPECT_LT(apart, 1e-4 * size) << a << gated;
      EXPECT_GT(apart, 1e-8 * size) << a << gated;  // control: it did multiply bfloat16
    }
  }
}

TEST_P(LinearBFloat16, BitsDoNotDependOnThreads) {
  std::vector<Tensor> first;
  for (const int threads : {1, 2, 8}) {
    Variable x(normal({300, 70}, 1), true), w(normal({130, 70}, 2), true);
    Variable b(normal({130}, 3), true);
    const Variable y = linear(
        x, w, b,
        {.activation = Activation::gelu, .dtype = kHalf, .compute = kHalf, .threads = threads});
    backward(y, normal({300, 130}, 4, kHalf).view());
    const std::vector<Tensor> all{y.value(), x.grad(), w.grad(), b.grad()};
    if (first.empty()) first = all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(std::memcmp(all[i].raw(), first[i].raw(), all[i].bytes()), 0) << i << threads;
    }
  }
}

TEST_P(LinearBFloat16, GradientsAreAddedToWhatIsThere) {
  Variable x(normal({20, 30}, 1), true), w(normal({25, 30}, 2), true), b(normal({25}, 3), true);
  const Tensor dy = normal({20, 25}, 4);
  backward(linear(x, w, b, {.compute = kHalf}), dy.view());
  const auto to_x = values_of(x.grad().view()), to_w = values_of(w.grad().view());
  backward(linear(x, w, b, {.compute = kHalf}), dy.view());
  const auto twice_x = values_of(x.grad().view()), twice_w = values_of(w.grad().view());
  for (std::size_t i = 0; i < to_x.size(); ++i) EXPECT_EQ(twice_x[i], 2 * to_x[i]);
  for (std::size_t i = 0; i < to_w.size(); ++i) EXPECT_EQ(twice_w[i], 2 * to_w[i]);
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Ops, LinearBFloat16);

// Rounded once, in both directions, until the weight changes.
TEST(LinearBFloat16Packing, IsKeptUntilTheWeightChanges) {
  Variable x(normal({4, 30}, 1), true), w(normal({25, 30}, 2), true);
  const Tensor dy = normal({4, 25}, 3);
  const auto step = [&] { backward(linear(x, w, {}, {.compute = kHalf}), dy.view()); };
  step();
  const auto* plain = packed_once(w, WeightFormat::bfloat16, 1).storage();
  const auto* turned = transposed_packed_once(w, WeightFormat::bfloat16, 1).storage();
  step();
  EXPECT_EQ(packed_once(w, WeightFormat::bfloat16, 1).storage(), plain);
  EXPECT_EQ(transposed_packed_once(w, WeightFormat::bfloat16, 1).storage(), turned);
  x.clear_grad();
  step();
  const std::vector<double> before = values_of(x.grad().view());
  float* const numbers = static_cast<float*>(w.change().data());
  for (int i = 0; i < 25 * 30; ++i) numbers[i] *= 2;
  x.clear_grad();
  step();
  const std::vector<double> after = values_of(x.grad().view());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], 2 * before[i]);
}

}  // namespace
}  // namespace volvelle
