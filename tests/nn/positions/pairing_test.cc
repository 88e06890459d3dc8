#include "volvelle/nn/positions/pairing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "support/refusal.h"

namespace volvelle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::refusal;

constexpr RotaryPairing kHalf = RotaryPairing::split_half;
constexpr RotaryPairing kSide = RotaryPairing::interleaved;

Tensor random_rows(const Shape& shape, unsigned seed) {
  std::mt19937 draws(seed);
  std::normal_distribution<double> normal;
  Tensor rows(DType::float64, shape);
  for (std::int64_t i = 0; i < rows.size(); ++i) rows.data<double>()[i] = normal(draws);
  return rows;
}

// Head `head` of weight x + bias, normed by `norm` where there is one, turned at a position.
std::vector<double> turned_head(const Tensor& weight, const Tensor& bias, const Tensor& norm,
                                const std::vector<double>& x, std::int64_t head, std::int64_t width,
                                std::int64_t columns, RotaryPairing pairing, double position) {
  std::vector<double> made(static_cast<std::size_t>(width));
  const auto inputs = static_cast<std::int64_t>(x.size());
  double squares = 0;
  for (std::int64_t i = 0; i < width; ++i) {
    const std::int64_t row = head * width + i;
    double& sum = made[static_cast<std::size_t>(i)] = bias.data<double>()[row];
    for (std::int64_t c = 0; c < inputs; ++c) {
      sum += weight.data<double>()[row * inputs + c] * x[static_cast<std::size_t>(c)];
    }
    squares += sum * sum;
  }
  for (std::int64_t i = 0; i < width; ++i) {
    made[static_cast<std::size_t>(i)] *=
        norm.data<double>()[i] / std::sqrt(squares / static_cast<double>(width));
  }
  for (std::int64_t i = 0; i < columns / 2; ++i) {
    const auto a = static_cast<std::size_t>(pairing == kHalf ? i : 2 * i);
    const auto b = static_cast<std::size_t>(pairing == kHalf ? i + columns / 2 : 2 * i + 1);
    const double angle = position * std::pow(10.0, -static_cast<double>(i));
    const double first = made[a], second = made[b];
    made[a] = first * std::cos(angle) - second * std::sin(angle);
    made[b] = second * std::cos(angle) + first * std::sin(angle);
  }
  return made;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST(Pairing, OrderIsTheKnownOne) {
  EXPECT_THAT(pairing_order(kSide, kHalf, 4), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(pairing_order(kHalf, kSide, 6), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(pairing_order(kSide, kHalf, 6), ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(pairing_order(kSide, kHalf, 6, 4), ElementsAre(0, 2, 1, 3, 4, 5));
  EXPECT_THAT(pairing_order(kHalf, kHalf, 4), ElementsAre(0, 1, 2, 3));
}

// 8 heads of queries read 2 of keys, with biases, norms and columns that do not turn: the scores
// are the same ones.
TEST(Pairing, ConvertedRowsHaveTheScoresOfTheOldOnes) {
  constexpr std::int64_t kHeads = 8, kKeyHeads = 2, kWidth = 6, kColumns = 4, kInputs = 5;
  const Tensor q = random_rows({kHeads * kWidth, kInputs}, 1);
  const Tensor k = random_rows({kKeyHeads * kWidth, kInputs}, 2);
  const Tensor q_bias = random_rows({kHeads * kWidth}, 3),
               k_bias = random_rows({kKeyHeads * kWidth}, 4);
  const Tensor q_norm = random_rows({kWidth}, 5), k_norm = random_rows({kWidth}, 6);
  const RotaryHeads queries{.heads = kHeads, .head_width = kWidth, .columns = kColumns};
  const RotaryHeads keys{.heads = kKeyHeads, .head_width = kWidth, .columns = kColumns};
  const RotaryHeads norm{.heads = 1, .head_width = kWidth, .columns = kColumns};
  const auto half = [](const Tensor& rows, const RotaryHeads& heads) {
    return with_pairing(rows.view(), kSide, kHalf, heads);
  };
  const Tensor new_q = half(q, queries), new_k = half(k, keys);
  const Tensor new_q_bias = half(q_bias, queries), new_k_bias = half(k_bias, keys);
  const Tensor new_q_norm = half(q_norm, norm), new_k_norm = half(k_norm, norm);
  const std::vector<double> x{0.3, -1, 0.7, 2, -0.2}, y{1, 0.1, -0.4, 0.5, 0.9};
  bool swapped_shows = false;
  for (std::int64_t head = 0; head < kHeads; ++head) {
    const std::int64_t key_head = head / (kHeads / kKeyHeads);
    const double old_score =
        dot(turned_head(q, q_bias, q_norm, x, head, kWidth, kColumns, kSide, 5),
            turned_head(k, k_bias, k_norm, y, key_head, kWidth, kColumns, kSide, 2));
    const double new_score =
        dot(turned_head(new_q, new_q_bias, new_q_norm, x, head, kWidth, kColumns, kHalf, 5),
            turned_head(new_k, new_k_bias, new_k_norm, y, key_head, kWidth, kColumns, kHalf, 2));
    EXPECT_NEAR(new_score, old_score, 1e-12 * (1 + std::abs(old_score)));
    // The control: rows that were not converted.
    const double swapped =
        dot(turned_head(q, q_bias, q_norm, x, head, kWidth, kColumns, kHalf, 5),
            turned_head(k, k_bias, k_norm, y, key_head, kWidth, kColumns, kHalf, 2));
    swapped_shows = swapped_shows || std::abs(swapped - old_score) > 1e-3;
  }
  EXPECT_TRUE(swapped_shows);
}

TEST(Pairing, ThereAndBackIsTheSameBits) {
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16, DType::float64}) {
    const Tensor rows = converted(random_rows({3 * 6, 4}, 9).view(), dtype);
    const RotaryHeads heads{.heads = 3, .head_width = 6, .columns = 4};
    const Tensor there = with_pairing(rows.view(), kHalf, kSide, heads);
    EXPECT_NE(std::memcmp(there.raw(), rows.raw(), rows.bytes()), 0);
    const Tensor back = with_pairing(there.view(), kSide, kHalf, heads);
    EXPECT_EQ(std::memcmp(back.raw(), rows.raw(), rows.bytes()), 0);
  }
}

TEST(Pairing, OfPackedRowsLeavesValuesAlone) {
  // 4 heads of queries, 2 of keys, 2 of values, width 4.
  const Tensor packed = random_rows({8 * 4, 3}, 11);
  const Tensor made = packed_with_pairing(packed.view(), kSide, kHalf,
                                          {.heads = 4, .key_heads = 2, .head_width = 4});
  const std::int64_t order[] = {0, 2, 1, 3};
  for (std::int64_t row = 0; row < 32; ++row) {
    const std::int64_t from = row < 24 ? row - row % 4 + order[row % 4] : row;
    for (std::int64_t c = 0; c < 3; ++c) {
      EXPECT_EQ(made.data<double>()[row * 3 + c], packed.data<double>()[from * 3 + c]);
    }
  }
}

TEST(Pairing, ReadsRowsThroughTheirStrides) {
  const float transposed[] = {0, 10, 1, 11, 2, 12, 3, 13};  // (2,4), read as (4,2)
  const Tensor made =
      with_pairing(View(transposed, {4, 2}, {2, 1}), kSide, kHalf, {.heads = 1, .head_width = 4});
  EXPECT_EQ(made.data<float>()[2], 2);
  const Tensor turned =
      with_pairing(View(transposed, {2, 4}, {1, 2}), kSide, kHalf, {.heads = 1, .head_width = 2});
  EXPECT_EQ(turned.data<float>()[1], 1);
}

TEST(Pairing, RefusesRowsThatAreNotThoseHeads) {
  const Tensor k = random_rows({2 * 4, 3}, 1);
  EXPECT_THAT(refusal([&] { with_pairing(k.view(), kSide, kHalf, {.heads = 8, .head_width = 4}); }),
              HasSubstr("[pairing] rows (8,3) must have 32 rows: 8 heads of width 4; a key "
                        "projection has the heads of keys"));
  EXPECT_THAT(
      refusal([&] { packed_with_pairing(k.view(), kSide, kHalf, {.heads = 2, .head_width = 4}); }),
      HasSubstr("must have 24 rows"));
  EXPECT_THAT(refusal([] { with_pairing({}, kSide, kHalf, {.head_width = 4}); }),
              HasSubstr("rows are missing"));
  EXPECT_THAT(refusal([] { pairing_order(kSide, kHalf, 5); }), HasSubstr("they must be even"));
  EXPECT_THAT(refusal([] { pairing_order(kSide, kHalf, 4, 6); }),
              HasSubstr("no more than the head"));
  EXPECT_THAT(refusal([] { pairing_order(kSide, kHalf, 0); }), HasSubstr("head_width=0"));
  EXPECT_THAT(refusal([&] { with_pairing(k.view(), kSide, kHalf, {.heads = 0, .head_width = 4}); }),
              HasSubstr("heads=0 must be positive"));
  EXPECT_THAT(refusal([&] {
                packed_with_pairing(k.view(), kSide, kHalf,
                                    {.heads = 1, .key_heads = -1, .head_width = 4});
              }),
              HasSubstr("key_heads=-1 must be positive"));
}

}  // namespace
}  // namespace volvelle
