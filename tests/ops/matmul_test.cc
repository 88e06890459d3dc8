#include "volvelle/ops/matmul.h"

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

class Matmul : public testing::OnEveryInstructionSet {};

Tensor normal(DType dtype, const Shape& shape, RandomNumbers& random) {
  return filled(dtype, shape, [&] { return random.normal(); });
}

struct Sizes {
  std::int64_t m, n, k;
};

const std::vector<Sizes> kSizes{{1, 1, 1},    {2, 33, 9},  {13, 31, 257}, {14, 64, 512},
                                {27, 97, 30}, {265, 5, 3}, {5, 261, 40},  {3, 4, 0},
                                {0, 4, 3},    {3, 0, 4}};

TEST_P(Matmul, AgreesWithTheFormulaForAnySize) {
  RandomNumbers random(1);
  for (const Sizes& s : kSizes) {
    const Tensor a = normal(DType::float32, {s.m, s.k}, random);
    const Tensor b = normal(DType::float32, {s.k, s.n}, random);
    Tensor c(DType::float32, {s.m, s.n});
    matmul(a.view(), b.view(), c.mutable_view(), {.threads = 2});
    const ProductOracle right(values_of(a.view()), values_of(b.view()), s.m, s.k, s.n);
    EXPECT_EQ(testing::product_difference(c.view(), right.sums, right.terms, s.k), "")
        << s.m << " x " << s.n << " x " << s.k;
  }
}

// All four ways in which operands may lie transposed give the bits of copies that do not.
TEST_P(Matmul, TransposedOperandsAreReadInPlace) {
  RandomNumbers random(2);
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    const Sizes s{30, 70, 290};
    const Tensor a = normal(dtype, {s.m, s.k}, random);
    const Tensor b = normal(dtype, {s.k, s.n}, random);
    const Tensor at = copy_of(View(a.raw(), dtype, {s.k, s.m}, {1, s.k}));
    const Tensor bt = copy_of(View(b.raw(), dtype, {s.n, s.k}, {1, s.n}));
    const View a_views[] = {a.view(), View(at.raw(), dtype, {s.m, s.k}, {1, s.m})};
    const View b_views[] = {b.view(), View(bt.raw(), dtype, {s.k, s.n}, {1, s.k})};
    Tensor wanted(DType::float32, {s.m, s.n});
    matmul(a.view(), b.view(), wanted.mutable_view());
    for (const View& left : a_views) {
      for (const View& right : b_views) {
        Tensor c(DType::float32, {s.m, s.n});
        matmul(left, right, c.mutable_view());
        EXPECT_EQ(std::memcmp(c.raw(), wanted.raw(), c.bytes()), 0);
      }
    }
  }
}

// A right operand that many cuts of rows share is packed once for all of them: nobody can tell.
TEST_P(Matmul, ARowAmongThousandsHasItsOwnBits) {
  RandomNumbers random(6);
  const Sizes s{1700, 45, 75};
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16}) {
    const DType out = dtype == DType::float64 ? dtype : DType::float32;
    const Tensor a = normal(dtype, {s.m, s.k}, random), b = normal(dtype, {s.k, s.n}, random);
    const std::int64_t size = static_cast<std::int64_t>(size_of(out));
    Tensor c(out, {s.m, s.n});
    matmul(a.view(), b.view(), c.mutable_view(), {.threads = 3});
    for (const std::int64_t row : {std::int64_t{0}, std::int64_t{523}, s.m - 1}) {
      Tensor alone(out, {1, s.n});
      matmul(View(static_cast<const std::byte*>(a.raw()) +
                      row * s.k * static_cast<std::int64_t>(size_of(dtype)),
                  dtype, {1, s.k}),
             b.view(), alone.mutable_view());
      EXPECT_EQ(std::memcmp(alone.raw(), static_cast<const std::byte*>(c.raw()) + row * s.n * size,
                            alone.bytes()),
                0)
          << name_of(dtype) << " row " << row;
    }
  }
}

// Halves are moved as they are: an infinity next to a small number stays one.
TEST_P(Matmul, TransposedInfinitiesStayInfinite) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    const std::int64_t m = 40, k = 70;
    const Tensor at = filled(dtype, {k, m}, [i = 0]() mutable {
      return ++i % 3 == 0 ? static_cast<double>(kInf) : 1.5;
    });
    const Tensor ones = filled(dtype, {k, 1}, [] { return 1; });
    Tensor c(DType::float32, {m, 1});
    matmul(View(at.raw(), dtype, {m, k}, {1, m}), ones.view(), c.mutable_view());
    for (const double sum : values_of(c.view())) EXPECT_EQ(sum, static_cast<double>(kInf));
  }
}

// Every dtype of operands and output, and every layout, against a plain call per matrix.
TEST_P(Matmul, BatchesAreTheirMatrices) {
  RandomNumbers random(3);
  const std::int64_t batch = 2, heads = 3, m = 17, n = 35, k = 20;
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
    const Tensor a = normal(dtype, {batch, heads, m, k}, random);
    const Tensor b = normal(dtype, {batch, heads, k, n}, random);
    const Tensor empty(dtype, {batch, heads, m, n});
    for (const Layout layout :
         {Layout::contiguous, Layout::bthd, Layout::fused, Layout::reversed, Layout::gapped}) {
      const auto laid_a = laid_out(a, layout);
      const auto laid_b = laid_out(b, layout);
      auto laid_c = laid_out(normal(dtype, {batch, heads, m, n}, random), layout);
      matmul(laid_a.view, laid_b.view, laid_c.writable, {.threads = 2});
      const Tensor c = copy_of(laid_c.view);
      for (std::int64_t i = 0; i < batch * heads; ++i) {
        const std::int64_t size = static_cast<std::int64_t>(size_of(dtype));
        const auto part = [&](const Tensor& all, std::int64_t rows, std::int64_t columns) {
          return View(static_cast<const std::byte*>(all.raw()) + i * rows * columns * size, dtype,
                      {rows, columns});
        };
        const ProductOracle right(values_of(part(a, m, k)), values_of(part(b, k, n)), m, k, n);
        ASSERT_EQ(testing::product_difference(part(c, m, n), right.sums, right.terms, k), "")
            << name_of(dtype) << " matrix " << i << " layout " << static_cast<int>(layout);
      }
    }
  }
}

TEST_P(Matmul, LeadingAxesAreBroadcast) {
  RandomNumbers random(4);
  const std::int64_t m = 5, n = 6, k = 7;
  const Tensor a = normal(DType::float32, {2, 1, m, k}, random);
  const Tensor b = normal(DType::float32, {3, k, n}, random);
  Tensor c(DType::float32, {2, 3, m, n});
  matmul(a.view(), b.view(), c.mutable_view());
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) {
      Tensor one(DType::float32, {m, n});
      matmul(View(a.data<float>() + i * m * k, {m, k}), View(b.data<float>() + j * k * n, {k, n}),
             one.mutable_view());
      EXPECT_EQ(std::memcmp(one.raw(), c.data<float>() + (i * 3 + j) * m * n, one.bytes()), 0);
    }
  }
}

TEST_P(Matmul, AccumulatesIntoWhatWasThere) {
  RandomNumbers random(5);
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    const Tensor a = normal(DType::float32, {9, 300}, random);
    const Tensor b = normal(DType::float32, {300, 41}, random);
    Tensor c = normal(dtype, {9, 41}, random);
    ProductOracle right(values_of(a.view()), values_of(b.view()), 9, 300, 41);
    const std::vector<double> before = values_of(c.view());
    for (std::size_t i = 0; i < before.size(); ++i) right.sums[i] += before[i];
    matmul(a.view(), b.view(), c.mutable_view(), {.store = Store::accumulate});
    EXPECT_EQ(testing::product_difference(c.view(), right.sums, right.terms, 300), "");
  }
  float kept[] = {1, 2};  // an empty sum adds nothing
  matmul(View(kept, {1, 0}), View(kept, {0, 2}), MutableView(kept, {1, 2}),
         {.store = Store::accumulate});
  EXPECT_EQ(kept[1], 2);
}

TEST_P(Matmul, BitsDependOnNeitherThreadsNorNeighbours) {
  RandomNumbers random(6);
  const std::int64_t m = 270, n = 130, k = 300;
  const Tensor a = normal(DType::float32, {2, m, k}, random);
  const Tensor b = normal(DType::float32, {2, k, n}, random);
  Tensor wanted(DType::float32, {2, m, n});
  for (int i = 0; i < 2; ++i) {
    for (std::int64_t r = 0; r < m; ++r) {
      matmul(View(a.data<float>() + (i * m + r) * k, {1, k}),
             View(b.data<float>() + i * k * n, {k, n}),
             MutableView(wanted.data<float>() + (i * m + r) * n, {1, n}));
    }
  }
  for (int threads = 1; threads <= 8; ++threads) {
    Tensor c(DType::float32, {2, m, n});
    matmul(a.view(), b.view(), c.mutable_view(), {.threads = threads});
    EXPECT_EQ(std::memcmp(c.raw(), wanted.raw(), c.bytes()), 0) << threads;
  }
}

TEST_P(Matmul, NonFiniteNumbersReachTheirSumsOnly) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> a(14 * 3, 1), b(3 * 33, 0), c(14 * 33);
  a[13 * 3] = kInf;
  b[32] = NAN;
  matmul(View(a.data(), {14, 3}), View(b.data(), {3, 33}), MutableView(c.data(), {14, 33}));
  for (std::size_t i = 0; i < c.size(); ++i) {
    EXPECT_EQ(std::isnan(c[i]), i / 33 == 13 || i % 33 == 32) << i;
  }
}

// Matrices billions of elements apart.
TEST_P(Matmul, StridesBeyond32Bits) {
  const std::int64_t far = std::int64_t{1} << 34;
  float a[2] = {2, 3}, b[2] = {5, 7}, c[2] = {};
  matmul(View(a, {2, 1, 1, 1}, {1, far, -far, far}), View(b, {2, 1, 1, 1}, {1, -far, far, far}),
         MutableView(c, {2, 1, 1, 1}, {1, far, far, -far}));
  EXPECT_EQ(c[0], 10);
  EXPECT_EQ(c[1], 21);
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Ops, Matmul);

}  // namespace
}  // namespace volvelle
