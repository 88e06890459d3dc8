// Products of bfloat16 pairs: every way that this CPU has, against sums in double.
#include "kernels/pair_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/simd_choice.h"
#include "volvelle/attention/simd.h"
#include "volvelle/base/half.h"

namespace volvelle {
namespace {

using kernels::PairMultiplier;
using kernels::PairProduct;

std::vector<const PairMultiplier*> multipliers() {
  std::vector<const PairMultiplier*> all;
  for (const PairMultiplier* each : {kernels::dot_multiplier(), kernels::matrix_multiplier()}) {
    if (each != nullptr && each->granted()) all.push_back(each);
  }
  return all;
}

// A product with random numbers, its arrays and its shape.
struct Case {
  Case(int rows, int pairs, int columns, std::int64_t left_stride, unsigned seed)
      : left(static_cast<std::size_t>(std::abs(left_stride) * rows + 2 * pairs)),
        right(static_cast<std::size_t>(pairs) * 40),
        out(static_cast<std::size_t>(rows) * 48),
        factor(static_cast<std::size_t>(columns)) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (auto& x : left) x = to_bfloat16(normal(random)).bits;
    for (auto& x : right) {
      const std::uint32_t first = to_bfloat16(normal(random)).bits;
      x = first | std::uint32_t{to_bfloat16(normal(random)).bits} << 16;
    }
    for (auto& x : out) x = normal(random);
    for (auto& x : factor) x = normal(random);
    product = {.left = left.data() + (left_stride < 0 ? -left_stride * (rows - 1) : 0),
               .left_stride = left_stride,
               .right = right.data(),
               .right_stride = 40,
               .out = out.data(),
               .out_stride = 48,
               .rows = rows,
               .pairs = pairs,
               .columns = columns,
               .factor = factor.data()};
  }

  double right_value(int r, int c, double before) const {
    double sum = product.factor == nullptr ? 0 : static_cast<double>(product.factor[c]) * before;
    for (int p = 0; p < product.pairs; ++p) {
      const std::uint16_t* a = product.left + r * product.left_stride + 2 * p;
      const std::uint32_t word = right[static_cast<std::size_t>(p * 40 + c)];
      const auto number = [](std::uint32_t bits) {
        return static_cast<double>(to_float(BFloat16{static_cast<std::uint16_t>(bits)}));
      };
      sum += number(a[0]) * number(word & 0xFFFF) + number(a[1]) * number(word >> 16);
    }
    return sum;
  }

  std::vector<std::uint16_t> left;
  std::vector<std::uint32_t> right;
  std::vector<float> out, factor;
  PairProduct product;
};

void run(const PairMultiplier& way, const PairProduct& product) {
  way.begin();
  way.multiply(product);
  way.end();
}

TEST(PairProduct, IsTheSumOfProducts) {
  for (const PairMultiplier* way : multipliers()) {
    for (const int rows : {16, 32, 48, 128}) {
      for (const int pairs : {16, 32, 48, 64}) {
        for (const int columns : {16, 32}) {
          for (const std::int64_t stride : {2 * pairs, 2 * pairs + 3, -2 * pairs - 1, 0}) {
            Case made(rows, pairs, columns, stride, 7);
            if (pairs % 32 == 0) made.product.factor = nullptr;
            const std::vector<float> before = made.out;
            run(*way, made.product);
            for (int r = 0; r < rows; ++r) {
              for (int c = 0; c < 48; ++c) {
                const auto at = static_cast<std::size_t>(r * 48 + c);
                if (c >= columns) {
                  ASSERT_EQ(made.out[at], before[at]) << way->name << " outside";
                } else {
                  const double right = made.right_value(r, c, static_cast<double>(before[at]));
                  ASSERT_NEAR(static_cast<double>(made.out[at]), right, 2e-5)
                      << way->name << ' ' << rows << 'x' << pairs << 'x' << columns << " stride "
                      << stride << " at " << r << ',' << c;
                }
              }
            }
          }
        }
      }
    }
  }
}

// What was in `out` is not read without a factor: NaN there does not survive.
TEST(PairProduct, ReadsTheOutputOnlyWithAFactor) {
  for (const PairMultiplier* way : multipliers()) {
    for (const bool fresh : {true, false}) {
      Case made(32, 16, 32, 32, 3);
      std::fill(made.out.begin(), made.out.end(), std::nanf(""));
      if (fresh) made.product.factor = nullptr;
      run(*way, made.product);
      EXPECT_EQ(std::isnan(made.out[0]), !fresh) << way->name;
      EXPECT_EQ(std::isnan(made.out[31 * 48 + 31]), !fresh) << way->name;
    }
  }
}

TEST(PairProduct, BitsOfAnElementDoNotDependOnTheShapeAroundIt) {
  for (const PairMultiplier* way : multipliers()) {
    for (const int pairs : {16, 32, 64}) {
      Case whole(128, pairs, 32, 2 * pairs, 11);
      whole.product.factor = nullptr;
      run(*way, whole.product);
      for (const int rows : {16, 48}) {
        for (const int columns : {16, 32}) {
          Case part(128, pairs, 32, 2 * pairs, 11);
          part.product.factor = nullptr;
          part.product.rows = rows;
          part.product.columns = columns;
          run(*way, part.product);
          for (int r = 0; r < rows; ++r) {
            EXPECT_EQ(std::memcmp(part.out.data() + r * 48, whole.out.data() + r * 48,
                                  sizeof(float) * static_cast<std::size_t>(columns)),
                      0)
                << way->name << ' ' << pairs << " pairs, row " << r;
          }
        }
      }
    }
  }
}

// Why rows with such numbers never get here (attention_pairs.h).
TEST(PairProduct, TakesSubnormalNumbersForZero) {
  for (const PairMultiplier* way : multipliers()) {
    Case made(16, 16, 16, 32, 5);
    made.product.factor = nullptr;
    std::fill(made.left.begin(), made.left.end(), std::uint16_t{1});  // 2^-133
    run(*way, made.product);
    for (int c = 0; c < 16; ++c) EXPECT_EQ(made.out[static_cast<std::size_t>(c)], 0) << way->name;
  }
}

TEST(PairProduct, ChoiceSaysWhichWayIsInUse) {
  for (const std::string& name : simd_targets()) {
    set_simd_target(name);
    EXPECT_EQ(simd_target(), name);
    const PairMultiplier* way = kernels::pair_multiplier();
    const bool pairs = name == "avx3_bf16" || name == "avx3_amx";
    EXPECT_EQ(way != nullptr, pairs) << name;
    if (way != nullptr) {
      EXPECT_EQ(way->name, name);
    }
  }
  set_simd_target("best");
  EXPECT_EQ(simd_target(), simd_targets().front());
}

}  // namespace
}  // namespace volvelle
