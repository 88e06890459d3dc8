#include "volvelle/ops/in_place.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random_numbers.h"
#include "support/arrays.h"
#include "support/instruction_sets.h"
#include "volvelle/base/error.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {
namespace {

using testing::filled;
using testing::laid_out;
using testing::Layout;
using testing::listed;
using testing::values_of;
using Values = std::vector<double>;

class InPlace : public testing::OnEveryInstructionSet {};

constexpr DType kDtypes[] = {DType::float32, DType::bfloat16, DType::float64};

bool fit(DType to, DType from) { return (to == DType::float64) == (from == DType::float64); }

Tensor normal(DType dtype, const Shape& shape, std::uint64_t seed) {
  RandomNumbers random(seed);
  return filled(dtype, shape, [&] { return random.normal(); });
}

// The element as the dtype holds it, from arithmetic in its computing type.
double stored(DType dtype, double value) {
  if (dtype == DType::float64) return value;
  const float single = static_cast<float>(value);
  return dtype == DType::float32 ? single : to_float(to_bfloat16(single));
}

double sum_in(DType dtype, double a, double b) {
  if (dtype == DType::float64) return a + b;
  return stored(dtype, static_cast<float>(a) + static_cast<float>(b));
}

double product_in(DType dtype, double a, double b) {
  if (dtype == DType::float64) return a * b;
  return stored(dtype, static_cast<float>(a) * static_cast<float>(b));
}

TEST_P(InPlace, AddsExactlyAsOneRoundingDoes) {
  for (const std::int64_t count : {0, 1, 3, 17, 64, 1000, 33001}) {
    for (const DType to : kDtypes) {
      for (const DType from : kDtypes) {
        if (!fit(to, from)) continue;
        Tensor a = normal(to, {count}, 1);
        const Tensor b = normal(from, {count}, 2);
        const Values x = values_of(a.view()), y = values_of(b.view());
        add_into(a.mutable_view(), b.view(), 2);
        const Values ours = values_of(a.view());
        for (std::size_t i = 0; i < x.size(); ++i) {
          ASSERT_EQ(ours[i], sum_in(to, x[i], y[i])) << count << " " << name_of(to) << " " << i;
        }
      }
    }
  }
}

TEST_P(InPlace, ScalesExactlyAsOneRoundingDoes) {
  for (const std::int64_t count : {0, 1, 31, 4097}) {
    for (const DType dtype : kDtypes) {
      Tensor a = normal(dtype, {count}, 1);
      const Values x = values_of(a.view());
      scale_in_place(a.mutable_view(), 0.1);
      const Values ours = values_of(a.view());
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(ours[i], product_in(dtype, x[i], 0.1));
    }
  }
}

TEST_P(InPlace, KeepsWhatIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const DType dtype : kDtypes) {
    Tensor a = listed(dtype, {5}, {1, NAN, infinity, infinity, -infinity});
    add_into(a.mutable_view(), listed(dtype, {5}, {NAN, 1, 1, -infinity, -1}).view());
    const Values ours = values_of(a.view());
    EXPECT_TRUE(std::isnan(ours[0]) && std::isnan(ours[1]) && std::isnan(ours[3]));
    EXPECT_EQ(ours[2], infinity);
    EXPECT_EQ(ours[4], -infinity);
  }
}

TEST_P(InPlace, HonoursStridesAndWritesNothingElse) {
  const Tensor a = normal(DType::float32, {2, 3, 5, 7}, 1);
  const Tensor b = normal(DType::float32, {2, 3, 5, 7}, 2);
  Tensor right = copy_of(a.view());
  add_into(right.mutable_view(), b.view());
  scale_in_place(right.mutable_view(), 3);
  for (const Layout layout : {Layout::bthd, Layout::fused, Layout::reversed, Layout::gapped}) {
    auto to = laid_out(a, layout);
    const auto from = laid_out(b, layout == Layout::gapped ? Layout::bthd : layout);
    std::size_t litter = 0;
    for (const double value : values_of(to.memory.view())) litter += std::isnan(value);
    add_into(to.writable, from.view, 2);
    scale_in_place(to.writable, 3, 2);
    EXPECT_EQ(values_of(to.view), values_of(right.view()));
    for (const double value : values_of(to.memory.view())) litter -= std::isnan(value);
    EXPECT_EQ(litter, 0u);
  }
}

TEST_P(InPlace, BroadcastsWhatIsAdded) {
  Tensor a = listed(DType::float32, {2, 2}, {1, 2, 3, 4});
  const Tensor b = listed(DType::float32, {2}, {10, 20});
  add_into(a.mutable_view(), View(b.raw(), DType::float32, {2, 2}, {0, 1}));
  EXPECT_EQ(values_of(a.view()), (Values{11, 22, 13, 24}));
}

TEST_P(InPlace, AnArrayMayBeAddedToItself) {
  Tensor a = normal(DType::float32, {1001}, 1);
  const Values x = values_of(a.view());
  add_into(a.mutable_view(), a.view());
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(values_of(a.view())[i], 2 * x[i]);
}

TEST_P(InPlace, ThreadsDoNotChangeABit) {
  for (const DType dtype : kDtypes) {
    const Tensor from = normal(dtype, {3, 50000}, 2);
    Tensor one = normal(dtype, {3, 50000}, 1);
    const Tensor start = copy_of(one.view());
    add_into(one.mutable_view(), from.view(), 1);
    scale_in_place(one.mutable_view(), 0.3, 1);
    for (const int threads : {2, 8}) {
      Tensor more = copy_of(start.view());
      add_into(more.mutable_view(), from.view(), threads);
      scale_in_place(more.mutable_view(), 0.3, threads);
      EXPECT_EQ(std::memcmp(one.raw(), more.raw(), one.bytes()), 0);
    }
  }
}

VOLVELLE_ON_EVERY_INSTRUCTION_SET(Sets, InPlace);

TEST(BadInPlace, IsRefused) {
  Tensor a(DType::float32, {4}), integers(DType::int32, {4}), wide(DType::float64, {4});
  const Tensor other(DType::float32, {5});
  EXPECT_THROW(add_into(MutableView(), a.view()), InvalidArgument);
  EXPECT_THROW(add_into(a.mutable_view(), View()), InvalidArgument);
  EXPECT_THROW(add_into(a.mutable_view(), other.view()), InvalidArgument);
  EXPECT_THROW(add_into(a.mutable_view(), wide.view()), InvalidArgument);
  EXPECT_THROW(add_into(wide.mutable_view(), a.view()), InvalidArgument);
  EXPECT_THROW(add_into(integers.mutable_view(), integers.view()), InvalidArgument);
  const MutableView itself(a.raw(), DType::float32, {4}, {0});
  EXPECT_THROW(add_into(itself, other.view()), InvalidArgument);
  EXPECT_THROW(scale_in_place(itself, 2), InvalidArgument);
  const MutableView front(a.raw(), DType::float32, {3});
  const View back(a.data<float>() + 1, {3});
  EXPECT_THROW(add_into(front, back), InvalidArgument);
  EXPECT_THROW(scale_in_place(MutableView(), 2), InvalidArgument);
  EXPECT_THROW(scale_in_place(integers.mutable_view(), 2), InvalidArgument);
  EXPECT_THROW(scale_in_place(a.mutable_view(), 2, -1), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
