#include "volvelle/ops/dropout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/philox.h"
#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/instruction_sets.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"

namespace volvelle {
namespace {

using testing::filled;
using testing::normal_input;
using testing::values_of;
using Values = std::vector<double>;

class DroppedElements : public testing::OnEveryInstructionSet {};

constexpr DType kDtypes[] = {DType::float32, DType::bfloat16, DType::float64};

Tensor ones(DType dtype, const Shape& shape) {
  return filled(dtype, shape, [] { return 1; });
}

// Whether element i is dropped, from the definition.
bool is_dropped(std::uint64_t seed, std::int64_t i, double p) {
  const auto block = static_cast<std::uint64_t>(i / 4);
  const auto words = philox4x32(
      {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 1u << 24},
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return words[static_cast<std::size_t>(i % 4)] < std::nearbyint(p * 0x1p32);
}

TEST_P(DroppedElements, DropsTheElementsThatPhiloxNames) {
  const std::uint64_t seed = 0x123456789ABCDEF0u;
  for (const DType dtype : kDtypes) {
    for (const std::int64_t count : {0, 1, 3, 64, 65, 1000, 70001}) {
      for (const double p : {0.1, 0.5, 0.999}) {
        const Variable x(ones(dtype, {count}));
        const Values ours = values_of(dropout(x, p, seed).view());
        const double kept =
            dtype == DType::float64
                ? 1 / (1 - p)
                : values_of(
                      converted(
                          View(std::vector<float>{static_cast<float>(1 / (1 - p))}.data(), {1}),
                          dtype)
                          .view())[0];
        for (std::size_t i = 0; i < ours.size(); ++i) {
          const bool dropped = is_dropped(seed, static_cast<std::int64_t>(i), p);
          ASSERT_EQ(ours[i], dropped ? 0 : kept) << name_of(dtype) << " " << i << " " << p;
        }
      }
    }
  }
}

TEST_P(DroppedElements, DropsTheShareAskedForAndKeepsTheMean) {
  const Variable x(ones(DType::float32, {1000000}));
  double dropped = 0, sum = 0;
  for (const double value : values_of(dropout(x, 0.1, 7).view())) {
    dropped += value == 0;
    sum += value;
  }
  EXPECT_NEAR(dropped / 1e6, 0.1, 5 * std::sqrt(0.1 * 0.9 / 1e6));
  EXPECT_NEAR(sum / 1e6, 1, 5 * std::sqrt(0.1 / 0.9 / 1e6));
}

TEST_P(DroppedElements, EdgesOfTheProbability) {
  const Variable x(converted(normal_input({9}, 1).view(), DType::float32), true);
  EXPECT_EQ(dropout(x, 0, 1).state(), x.state());
  EXPECT_EQ(values_of(dropout(x, 1, 1).view()), Values(9, 0.0));
  EXPECT_EQ(values_of(dropout(x, 1e-12, 1).view()), values_of(x.view()));
  backward(dropout(x, 1, 1), x.view());
  EXPECT_EQ(values_of(x.grad().view()), Values(9, 0.0));
}

TEST_P(DroppedElements, WhatIsDroppedDoesNotLeak) {
  for (const DType dtype : kDtypes) {
    const Variable x(filled(dtype, {64}, [] { return NAN; }), true);
    const Values ours = values_of(dropout(x, 0.5, 3).view());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      EXPECT_EQ(std::isnan(ours[i]), !is_dropped(3, static_cast<std::int64_t>(i), 0.5));
    }
  }
}

TEST_P(DroppedElements, SeedsDiffer) {
  const Variable x(ones(DType::float32, {256}));
  EXPECT_EQ(values_of(dropout(x, 0.5, 1).view()), values_of(dropout(x, 0.5, 1).view()));
  EXPECT_NE(values_of(dropout(x, 0.5, 1).view()), values_of(dropout(x, 0.5, 2).view()));
  EXPECT_NE(values_of(dropout(x, 0.5, 1).view()),
            values_of(dropout(x, 0.5, std::uint64_t{1} << 32).view()));
}

TEST_P(DroppedElements, GradientsAreThoseOfDifferences) {
  for (const DType dtype : kDtypes) {
    testing::expect_gradients([](const auto& x) { return dropout(x[0], 0.4, 9); },
                              {normal_input({3, 7}, 1)}, {.dtype = dtype});
  }
}

TEST_P(DroppedElements, ThreadsDoNotChangeABit) {
  for (const DType dtype : kDtypes) {
    const Variable x(converted(normal_input({150001}, 1).view(), dtype), true);
    std::vector<Tensor> all;
    for (const int threads : {1, 2, 8}) {
      const ThreadScope scope(threads);
      all.push_back(dropout(x, 0.3, 5).value());
      EXPECT_EQ(std::memcmp(all[0].raw(), all.back().raw(), all[0].bytes()), 0);
    }
  }
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Sets, DroppedElements);

TEST(BadDropout, IsRefused) {
  const Variable x(normal_input({3}, 1));
  EXPECT_THROW(dropout(x, -0.1, 1), InvalidArgument);
  EXPECT_THROW(dropout(x, 1.1, 1), InvalidArgument);
  EXPECT_THROW(dropout(x, NAN, 1), InvalidArgument);
  EXPECT_THROW(dropout(Variable(), 0.5, 1), InvalidArgument);
  EXPECT_THROW(dropout(Variable(Tensor(DType::int32, {3})), 0.5, 1), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
