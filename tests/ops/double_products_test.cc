// Products in float64: the same operators, other kernels.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/random_numbers.h"
#include "kernels/activation_double.h"
#include "support/arrays.h"
#include "support/instruction_sets.h"
#include "support/products.h"
#include "volvelle/ops/linear.h"
#include "volvelle/ops/linear_backward.h"
#include "volvelle/ops/matmul.h"

namespace volvelle {
namespace {

using testing::filled;
using testing::laid_out;
using testing::Layout;
using testing::product_difference;
using testing::ProductOracle;
using testing::transposed;
using testing::values_of;

constexpr DType kDouble = DType::float64;

class DoubleProducts : public testing::OnEveryInstructionSet {};

Tensor normal(const Shape& shape, RandomNumbers& random) {
  return filled(kDouble, shape, [&] { return random.normal(); });
}

struct Sizes {
  std::int64_t m, n, k;
};
const std::vector<Sizes> kSizes{{1, 1, 1},    {2, 33, 9},  {13, 31, 257}, {14, 64, 512},
                                {27, 97, 30}, {265, 5, 3}, {5, 261, 40},  {3, 4, 0},
                                {0, 4, 3},    {3, 0, 4}};

TEST_P(DoubleProducts, MatmulOfAnySizeAndLayout) {
  RandomNumbers random(1);
  for (const Sizes& s : kSizes) {
    const Tensor a = normal({s.m, s.k}, random), b = normal({s.k, s.n}, random);
    const ProductOracle right(values_of(a.view()), values_of(b.view()), s.m, s.k, s.n);
    for (const Layout layout : {Layout::contiguous, Layout::reversed, Layout::gapped}) {
      const auto laid_a = laid_out(a, layout), laid_b = laid_out(b, layout);
      auto laid_c = laid_out(Tensor::zeros(kDouble, {s.m, s.n}), layout);
      matmul(laid_a.view, laid_b.view, laid_c.writable, {.threads = 2});
      EXPECT_EQ(product_difference(laid_c.view, right.sums, right.terms, s.k), "")
          << s.m << " x " << s.n << " x " << s.k << " layout " << static_cast<int>(layout);
    }
  }
}

TEST_P(DoubleProducts, TransposedOperandsGiveTheSameBits) {
  RandomNumbers random(2);
  const Sizes s{30, 70, 290};
  const Tensor a = normal({s.m, s.k}, random), b = normal({s.k, s.n}, random);
  const Tensor at = copy_of(View(a.raw(), kDouble, {s.k, s.m}, {1, s.k}));
  const Tensor bt = copy_of(View(b.raw(), kDouble, {s.n, s.k}, {1, s.n}));
  Tensor wanted(kDouble, {s.m, s.n});
  matmul(a.view(), b.view(), wanted.mutable_view());
  for (const View& left : {a.view(), View(at.raw(), kDouble, {s.m, s.k}, {1, s.m})}) {
    for (const View& right : {b.view(), View(bt.raw(), kDouble, {s.k, s.n}, {1, s.k})}) {
      Tensor c(kDouble, {s.m, s.n});
      matmul(left, right, c.mutable_view());
      EXPECT_EQ(std::memcmp(c.raw(), wanted.raw(), c.bytes()), 0);
    }
  }
}

// act(x W^T + b) + r, and act(x G^T + g) * (x W^T + b) + r, in double.
TEST_P(DoubleProducts, LinearWithEverything) {
  RandomNumbers random(3);
  for (const Sizes& s : kSizes) {
    const Tensor x = normal({s.m, s.k}, random), w = normal({s.n, s.k}, random);
    const Tensor gate = normal({s.n, s.k}, random), residual = normal({s.m, s.n}, random);
    const Tensor bias = normal({s.n}, random), gate_bias = normal({s.n}, random);
    const std::vector<double> columns = transposed(values_of(w.view()), s.n, s.k);
    const std::vector<double> b = values_of(bias.view()), gb = values_of(gate_bias.view());
    const std::vector<double> added = values_of(residual.view());
    const std::vector<double> gates = transposed(values_of(gate.view()), s.n, s.k);
    const ProductOracle sums(values_of(x.view()), columns, s.m, s.k, s.n);
    const ProductOracle gate_sums(values_of(x.view()), gates, s.m, s.k, s.n);
    for (const bool gated : {false, true}) {
      const PackedWeights packed =
          gated ? PackedWeights::gated(gate.view(), w.view()) : PackedWeights(w.view());
      EXPECT_EQ(packed.format(), WeightFormat::float64);
      Tensor y(kDouble, {s.m, s.n}), before(kDouble, {s.m, s.n}), gate_before(kDouble, {s.m, s.n});
      LinearOptions options{.bias = bias.view(),
                            .activation = Activation::gelu,
                            .residual = residual.view(),
                            .before_activation = before.mutable_view()};
      if (gated) {
        options.gate_bias = gate_bias.view();
        options.gate_before_activation = gate_before.mutable_view();
      }
      linear(x.view(), packed, y.mutable_view(), options);
      std::vector<double> wanted, wanted_before, wanted_gate, terms;
      for (std::size_t i = 0; i < sums.sums.size(); ++i) {
        const std::size_t c = i % static_cast<std::size_t>(s.n);
        const double sum = sums.sums[i] + b[c];
        const double of_gate = gate_sums.sums[i] + gb[c];
        const double r = added[i];
        wanted_before.push_back(sum);
        wanted_gate.push_back(of_gate);
        wanted.push_back(r + (gated ? kernels::activated(kernels::Curve::gelu, of_gate) * sum
                                    : kernels::activated(kernels::Curve::gelu, sum)));
        terms.push_back((sums.terms[i] + 9) * (gated ? gate_sums.terms[i] + 9 : 1));
      }
      EXPECT_EQ(product_difference(y.view(), wanted, terms, s.k), "") << gated;
      EXPECT_EQ(product_difference(before.view(), wanted_before, terms, s.k), "");
      if (gated) {
        EXPECT_EQ(product_difference(gate_before.view(), wanted_gate, terms, s.k), "");
      }
    }
  }
}

TEST_P(DoubleProducts, GradientsOfLinear) {
  RandomNumbers random(4);
  for (const Sizes& s : kSizes) {
    const Tensor dy = normal({s.m, s.n}, random), x = normal({s.m, s.k}, random);
    const Tensor w = normal({s.n, s.k}, random);
    const ProductOracle input(values_of(dy.view()), values_of(w.view()), s.m, s.n, s.k);
    const ProductOracle weights(transposed(values_of(dy.view()), s.m, s.n), values_of(x.view()),
                                s.n, s.m, s.k);
    const ProductOracle bias(std::vector<double>(static_cast<std::size_t>(s.m), 1),
                             values_of(dy.view()), 1, s.m, s.n);
    Tensor packed_dx(kDouble, {s.m, s.k}), dx(kDouble, {s.m, s.k}), dw(kDouble, {s.n, s.k}),
        db(kDouble, {s.n});
    linear_backward_input(dy.view(), PackedWeights(w.view()), packed_dx.mutable_view());
    linear_backward_input(dy.view(), w.view(), dx.mutable_view());
    linear_backward_weights(dy.view(), x.view(), dw.mutable_view());
    linear_backward_bias(dy.view(), db.mutable_view());
    EXPECT_EQ(product_difference(dx.view(), input.sums, input.terms, s.n), "");
    EXPECT_EQ(values_of(packed_dx.view()), values_of(dx.view()));
    EXPECT_EQ(product_difference(dw.view(), weights.sums, weights.terms, s.m), "");
    EXPECT_EQ(product_difference(db.view(), bias.sums, bias.terms, s.m), "");
    linear_backward_weights(dy.view(), x.view(), dw.mutable_view(), {.store = Store::accumulate});
    const std::vector<double> twice = values_of(dw.view());
    for (std::size_t i = 0; i < weights.sums.size(); ++i) {
      EXPECT_NEAR(twice[i], 2 * weights.sums[i], 1e-13 * (1 + weights.terms[i]));
    }
  }
}

TEST_P(DoubleProducts, BitsDoNotDependOnThreadsOrRows) {
  RandomNumbers random(5);
  const Tensor a = normal({400, 270}, random), b = normal({270, 130}, random);
  Tensor first(kDouble, {400, 130});
  matmul(a.view(), b.view(), first.mutable_view(), {.threads = 1});
  for (const int threads : {2, 3, 8}) {
    Tensor c(kDouble, {400, 130});
    matmul(a.view(), b.view(), c.mutable_view(), {.threads = threads});
    EXPECT_EQ(std::memcmp(c.raw(), first.raw(), c.bytes()), 0) << threads;
  }
  Tensor row(kDouble, {1, 130});
  matmul(View(a.data<double>() + 17 * 270, {1, 270}), b.view(), row.mutable_view());
  EXPECT_EQ(std::memcmp(row.raw(), first.data<double>() + 17 * 130, row.bytes()), 0);
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Ops, DoubleProducts);

}  // namespace
}  // namespace volvelle
