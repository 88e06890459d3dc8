#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "attention/dropout.h"
#include "base/aligned_memory.h"
#include "kernels/attention_dropout.h"
#include "kernels/attention_forward.h"
#include "volvelle/attention/simd.h"

namespace volvelle {
namespace {

class Dropout : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { set_simd_target(GetParam()); }
  void TearDown() override { set_simd_target("best"); }
};

kernels::DropoutStream stream_of(double p) {
  return {.seed = 0x0123456789ABCDEFu,
          .batch = 3,
          .head = 5,
          .threshold = static_cast<std::uint64_t>(std::llround(p * 0x1p32)),
          .kept = 1 / (1 - p)};
}

template <class T>
void expect_definition(const kernels::DropoutStream& stream, std::int64_t query, std::int64_t key,
                       int keys) {
  const int lanes = kernels::forward_kernels<T>().lanes;
  for (const int panel : {lanes, 2 * lanes}) {
    Workspace memory;
    const int count = keys * panel;
    T* factors = static_cast<T*>(memory.at_least(static_cast<std::size_t>(count + 1) * sizeof(T)));
    factors[count] = T{-7};
    kernels::dropout_kernels<T>().factors(stream, query, key, keys, panel, factors);
    for (int j = 0; j < keys; ++j) {
      for (int x = 0; x < panel; ++x) {
        ASSERT_EQ(factors[j * panel + x],
                  static_cast<T>(dropout_factor(stream, query + x, key + j)))
            << "query " << query + x << " key " << key + j;
      }
    }
    EXPECT_EQ(factors[count], T{-7}) << "written past its end";
  }
}

TEST_P(Dropout, KernelsDropTheCellsOfTheDefinition) {
  for (const std::int64_t key :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{130}, (std::int64_t{1} << 34) - 9}) {
    for (const std::int64_t query :
         {std::int64_t{0}, std::int64_t{7}, (std::int64_t{1} << 32) - 3, std::int64_t{3} << 32}) {
      for (const int keys : {1, 2, 3, 4, 7, 8}) {
        expect_definition<float>(stream_of(0.3), query, key, keys);
        expect_definition<double>(stream_of(0.3), query, key, keys);
      }
    }
  }
  expect_definition<float>(stream_of(0.5), 64, 128, kernels::kTileKeys);
}

TEST_P(Dropout, ProbabilitiesAtTheEndsOfTheRange) {
  for (const double p : {1e-12, 0x1p-32, 1 - 0x1p-33, std::nextafter(1.0, 0.0)}) {
    expect_definition<float>(stream_of(p), 0, 0, 16);
    expect_definition<double>(stream_of(p), 0, 0, 16);
  }
}

// The control: another seed, row, head or batch row drops other cells.
TEST_P(Dropout, ControlOtherStreamsDiffer) {
  const auto factors = [](const kernels::DropoutStream& stream, std::int64_t query) {
    std::vector<double> all;
    for (std::int64_t j = 0; j < 64; ++j) all.push_back(dropout_factor(stream, query, j));
    return all;
  };
  const auto base = stream_of(0.5);
  auto other_seed = base, other_half = base, other_batch = base, other_head = base;
  other_seed.seed += 1;
  other_half.seed += std::uint64_t{1} << 32;
  other_batch.batch += 1;
  other_head.head += 1;
  for (const auto& other : {other_seed, other_half, other_batch, other_head}) {
    EXPECT_NE(factors(other, 9), factors(base, 9));
  }
  EXPECT_NE(factors(base, 10), factors(base, 9));
  EXPECT_NE(factors(base, 9 + (std::int64_t{1} << 32)), factors(base, 9));
}

INSTANTIATE_TEST_SUITE_P(Targets, Dropout, testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return target.param; });

}  // namespace
}  // namespace volvelle
