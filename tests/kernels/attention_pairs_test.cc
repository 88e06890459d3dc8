// What the pair kernels of attention do besides products: finding odd rows, turning tiles.
#include "kernels/attention_pairs.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/aligned_memory.h"
#include "volvelle/base/half.h"

namespace volvelle {
namespace {

constexpr int kTile = kernels::kTileKeys;

std::uint16_t half(double value) { return to_bfloat16(static_cast<float>(value)).bits; }

TEST(AttentionPairs, OddRowsAreThoseThatFloat32WouldTreatOtherwise) {
  const kernels::PairKernels* pairs = kernels::pair_kernels();
  if (pairs == nullptr) GTEST_SKIP() << "no instruction set here multiplies pairs";
  const std::pair<std::uint16_t, bool> numbers[] = {
      {0x0000, false}, {0x8000, false}, {half(1), false},         {half(-3.5), false},
      {0x0001, true},  {0x807F, true},  {half(0x1p-50), false},   {half(0x1.fcp-51), true},
      {0x7F80, true},  {0xFFC0, true},  {half(0x1.fcp49), false}, {half(0x1p50), true},
      {0x7F81, true},  {0x0080, true},  {half(-0x1p50), true},    {half(-0x1p-50), false},
  };
  for (const int width : {1, 31, 32, 33, 64, 70}) {
    for (const int place : {0, width / 2, width - 1}) {
      std::vector<std::uint16_t> rows(static_cast<std::size_t>(16 * (width + 1)), half(0.5));
      for (int j = 0; j < 16; ++j) {
        rows[static_cast<std::size_t>(j * (width + 1) + place)] = numbers[j].first;
        rows[static_cast<std::size_t>(j * (width + 1) + width)] = 0x7FC0;  // not of the row
      }
      std::uint8_t odd[16] = {};
      EXPECT_TRUE(pairs->find_odd_rows(rows.data(), width + 1, 16, width, odd));
      for (int j = 0; j < 16; ++j) {
        EXPECT_EQ(odd[j] != 0, numbers[j].second) << "width " << width << " number " << j;
      }
      std::uint8_t untouched[4] = {9, 9, 9, 9};
      EXPECT_FALSE(pairs->find_odd_rows(rows.data(), width + 1, 4, width, untouched));
      EXPECT_EQ(untouched[0], 9);
    }
  }
}

TEST(AttentionPairs, QueriesBecomeLanesOfPairs) {
  const kernels::PairKernels* pairs = kernels::pair_kernels();
  if (pairs == nullptr) GTEST_SKIP() << "no instruction set here multiplies pairs";
  for (const int panel : {16, 32}) {
    constexpr int kPairs = 48;
    Workspace rows_memory, to_memory;
    auto* rows = static_cast<std::uint16_t*>(rows_memory.at_least(32 * 2 * kPairs * 2));
    auto* to = static_cast<std::uint32_t*>(to_memory.at_least(32 * kPairs * 4));
    for (int i = 0; i < panel * 2 * kPairs; ++i) rows[i] = static_cast<std::uint16_t>(i);
    pairs->interleave_queries(rows, kPairs, panel, to);
    for (int r = 0; r < panel; ++r) {
      for (int p = 0; p < kPairs; ++p) {
        const std::uint16_t* pair = rows + r * 2 * kPairs + 2 * p;
        ASSERT_EQ(to[p * panel + r], pair[0] | std::uint32_t{pair[1]} << 16) << r << ' ' << p;
      }
    }
  }
}

TEST(AttentionPairs, ValuesAreTurnedAndPaddedWithZeros) {
  const kernels::PairKernels* pairs = kernels::pair_kernels();
  if (pairs == nullptr) GTEST_SKIP() << "no instruction set here multiplies pairs";
  std::mt19937 random(3);
  for (const int width : {1, 7, 8, 20, 64, 65}) {
    for (const int count : {1, 31, 32, 100, kTile}) {
      for (const bool some_odd : {false, true}) {
        const int value_rows = (width + 15) / 16 * 16;
        const std::int64_t stride = width + 5;
        std::vector<std::uint16_t> rows(static_cast<std::size_t>(stride * count));
        for (auto& x : rows) x = static_cast<std::uint16_t>(random() | 1);
        std::uint8_t odd[kTile] = {};
        for (int j = 0; some_odd && j < count; j += 3) odd[j] = 1;
        Workspace memory;
        auto* to = static_cast<std::uint16_t*>(
            memory.at_least(static_cast<std::size_t>(value_rows * kTile) * 2));
        std::fill_n(to, value_rows * kTile, std::uint16_t{0x7FC0});
        // The last row ends where its memory ends: reading on would be seen by a sanitizer.
        rows.resize(static_cast<std::size_t>(stride * (count - 1) + width));
        rows.shrink_to_fit();
        pairs->transpose_values(rows.data(), stride, count, width, some_odd ? odd : nullptr,
                                value_rows, to);
        for (int e = 0; e < value_rows; ++e) {
          for (int j = 0; j < (count + 31) / 32 * 32; ++j) {
            const bool there = e < width && j < count && odd[j] == 0;
            const std::uint16_t wanted =
                there ? rows[static_cast<std::size_t>(j * stride + e)] : std::uint16_t{0};
            ASSERT_EQ(to[e * kTile + j], wanted) << width << ' ' << count << ' ' << e << ' ' << j;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace volvelle
