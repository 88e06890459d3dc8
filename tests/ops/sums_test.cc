#include "volvelle/ops/sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random_numbers.h"
#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/instruction_sets.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"

namespace volvelle {
namespace {

using testing::expect_gradients;
using testing::laid_out;
using testing::Layout;
using testing::listed;
using testing::normal_input;
using testing::set_element;
using testing::values_of;
using Values = std::vector<double>;

class Sums : public testing::OnEveryInstructionSet {};

constexpr DType kDtypes[] = {DType::float32, DType::bfloat16, DType::float64};

Tensor normal(DType dtype, const Shape& shape, std::uint64_t seed) {
  return converted(normal_input(shape, seed).view(), dtype);
}

double only(const Variable& scalar) { return element_as_double(scalar.view(), 0); }

TEST_P(Sums, AreThoseOfTheFormula) {
  for (const DType dtype : kDtypes) {
    for (const std::int64_t count : {1, 31, 32, 33, 1000, 32768, 100001}) {
      const Variable x(normal(dtype, {count}, 1)), y(normal(dtype, {count}, 2));
      const Values a = values_of(x.view()), b = values_of(y.view());
      long double plain = 0, squares = 0, products = 0, sizes = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        plain += a[i];
        squares += static_cast<long double>(a[i]) * a[i];
        products += static_cast<long double>(a[i]) * b[i];
        sizes += std::fabs(a[i]);
      }
      const double n = static_cast<double>(count);
      // A float32 scalar is rounded once; the sums behind it are good to float64.
      const double share = dtype == DType::float64 ? 1e-14 : 6e-8;
      const double slack = 1e-13 * static_cast<double>(sizes);
      const auto near = [&](const Variable& ours, long double right, double part) {
        const double wanted = static_cast<double>(right);
        EXPECT_NEAR(only(ours), wanted, share * std::fabs(wanted) + slack * part)
            << name_of(dtype) << " " << count;
      };
      near(sum(x), plain, 1);
      near(mean(x), plain / n, 1 / n);
      near(mean_square(x), squares / n, 1 / n);
      near(dot(x, y), products, 1);
      EXPECT_NEAR(norm(x.view()), std::sqrt(static_cast<double>(squares)),
                  1e-13 * std::sqrt(static_cast<double>(squares)));
      // Control: one element left out is seen.
      const double without = std::sqrt(static_cast<double>(squares) - a[0] * a[0]);
      EXPECT_GT(std::fabs(norm(x.view()) - without), 1e-13 * without);
    }
  }
}

TEST_P(Sums, OfNothingIsZero) {
  const Variable none(Tensor(DType::float32, {0, 3}));
  EXPECT_EQ(only(sum(none)), 0);
  EXPECT_EQ(only(dot(none, none)), 0);
  EXPECT_EQ(norm(none.view()), 0);
  EXPECT_EQ(first_non_finite(none.view()), -1);
}

TEST_P(Sums, GradientsAreThoseOfDifferences) {
  for (const DType dtype : kDtypes) {
    const testing::GradientCheck check{.dtype = dtype};
    const std::vector<Tensor> one{normal_input({3, 5}, 1)};
    const std::vector<Tensor> two{normal_input({3, 5}, 1), normal_input({3, 5}, 2)};
    expect_gradients([](const auto& x) { return sum(x[0]); }, one, check);
    expect_gradients([](const auto& x) { return mean(x[0]); }, one, check);
    expect_gradients([](const auto& x) { return mean_square(x[0]); }, one, check);
    expect_gradients([](const auto& x) { return dot(x[0], x[1]); }, two, check);
    expect_gradients([](const auto& x) { return dot(x[0], x[0]); }, one, check);
  }
  expect_gradients([](const auto& x) { return dot(x[0], x[1]); },
                   {normal_input({4}, 1), normal_input({4}, 2)}, {.fixed = {1}});
}

// Of float32 and bfloat16 every product is exact in float64 and the order is one: instruction sets
// do not change a bit either.
TEST_P(Sums, HaveTheSameBitsForAnyThreadsAndInstructionSet) {
  for (const DType dtype : kDtypes) {
    const Variable x(normal(dtype, {200003}, 1)), y(normal(dtype, {200003}, 2));
    const auto all = [&](int threads) {
      const ThreadScope scope(threads);
      return Values{only(sum(x)), only(mean_square(x)), only(dot(x, y)), norm(x.view(), threads)};
    };
    const Values one = all(1);
    EXPECT_EQ(all(2), one);
    EXPECT_EQ(all(8), one);
    if (dtype == DType::float64) continue;
    set_simd_target(simd_targets().back());
    EXPECT_EQ(all(1), one);
    set_simd_target(GetParam());
  }
}

TEST_P(Sums, TheNormOfAnyStridesIsThatOfACopy) {
  const Tensor x = normal(DType::float32, {2, 3, 5, 7}, 1);
  const double right = norm(x.view());
  for (const Layout layout : {Layout::bthd, Layout::fused, Layout::reversed, Layout::gapped}) {
    const auto laid = laid_out(x, layout);
    EXPECT_DOUBLE_EQ(norm(laid.view), norm(copy_of(laid.view).view()));
    EXPECT_DOUBLE_EQ(norm(laid.view), right);
  }
  EXPECT_DOUBLE_EQ(norm(View(x.raw(), DType::float32, {4, 3}, {0, 1})),
                   2 * norm(View(x.raw(), DType::float32, {3})));
  const Tensor half = normal(DType::float16, {50}, 1);
  EXPECT_DOUBLE_EQ(norm(half.view()), norm(converted(half.view(), DType::float64).view()));
}

// Squares of float32 numbers that float32 could not hold.
TEST_P(Sums, TheNormOfLargeAndSmallFloatsIsFinite) {
  EXPECT_DOUBLE_EQ(norm(listed(DType::float32, {2}, {0x1.8p100, 0x1p101}).view()), 0x1.4p101);
  EXPECT_DOUBLE_EQ(norm(listed(DType::float32, {2}, {0x1.8p-100, 0x1p-99}).view()), 0x1.4p-99);
}

TEST_P(Sums, FindTheFirstElementThatIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const DType dtype : kDtypes) {
    for (const int threads : {1, 2, 8}) {
      Tensor x = normal(dtype, {3, 40000}, 1);
      EXPECT_EQ(first_non_finite(x.view(), threads), -1);
      set_element(x.raw(), dtype, 119999, NAN);
      EXPECT_EQ(first_non_finite(x.view(), threads), 119999);
      set_element(x.raw(), dtype, 70001, -infinity);
      EXPECT_EQ(first_non_finite(x.view(), threads), 70001);
      set_element(x.raw(), dtype, 70003, infinity);
      set_element(x.raw(), dtype, 0, infinity);
      EXPECT_EQ(first_non_finite(x.view(), threads), 0);
    }
  }
  // Counted in row-major order of the view, not of memory.
  Tensor x = normal(DType::float32, {2, 3}, 1);
  set_element(x.raw(), DType::float32, 1, NAN);
  EXPECT_EQ(first_non_finite(View(x.raw(), DType::float32, {3, 2}, {1, 3})), 2);
  EXPECT_EQ(first_non_finite(listed(DType::float32, {2}, {1, 3e38}).view()), -1);
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Sets, Sums);

TEST(BadSums, AreRefused) {
  const Variable x(normal_input({2, 3}, 1)), integers(Tensor(DType::int32, {2}));
  EXPECT_THROW(sum(Variable()), InvalidArgument);
  EXPECT_THROW(sum(integers), InvalidArgument);
  EXPECT_THROW(mean(integers), InvalidArgument);
  EXPECT_THROW(mean(Variable(Tensor(DType::float32, {0}))), InvalidArgument);
  EXPECT_THROW(mean_square(Variable(Tensor(DType::float32, {0}))), InvalidArgument);
  EXPECT_THROW(dot(x, Variable()), InvalidArgument);
  EXPECT_THROW(dot(x, Variable(normal_input({3, 2}, 1))), InvalidArgument);
  EXPECT_THROW(dot(x, Variable(Tensor(DType::float32, {2, 3}))), InvalidArgument);
  EXPECT_THROW(norm(View()), InvalidArgument);
  EXPECT_THROW(norm(integers.view()), InvalidArgument);
  EXPECT_THROW(norm(x.view(), -1), InvalidArgument);
  EXPECT_THROW(first_non_finite(View()), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
