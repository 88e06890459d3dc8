// Views of every kind, and offsets beyond 31 bits.
#include <cstring>

#include "base/random_numbers.h"
#include "support/expect_routes.h"
#include "support/reservation.h"

namespace volvelle::testing {
namespace {

Recipe medium() {
  Recipe recipe;
  recipe.batch = 2;
  recipe.key_heads = 2;
  recipe.group = 2;
  recipe.queries = 21;
  recipe.keys = 40;
  recipe.width = 12;
  recipe.value_width = 9;
  recipe.causal = true;
  return recipe;
}

TEST(Strides, EveryLayoutGivesTheSameBits) {
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    Recipe recipe = medium();
    recipe.dtype = dtype;
    const Made plain = make(recipe);
    for (const Layout layout : {Layout::bthd, Layout::fused, Layout::reversed, Layout::gapped}) {
      recipe.layout = layout;
      const Made other = make(recipe);
      for (const Route& route : routes()) {
        EXPECT_EQ(bit_difference(answer(plain.problem, route), answer(other.problem, route)), "")
            << route.name << " layout " << static_cast<int>(layout) << " " << name_of(dtype);
      }
    }
  }
}

TEST(Strides, BroadcastAxesHaveStrideZero) {
  Made made = make(medium());
  AttentionProblem& p = made.problem;
  p.k = View(p.k.data(), DType::float32, p.k.shape(), {0, 480, 12, 1});    // one for both rows
  p.v = View(p.v.data(), DType::float32, p.v.shape(), {720, 0, 9, 1});     // one for both heads
  p.q = View(p.q.data(), DType::float32, p.q.shape(), {1008, 252, 0, 1});  // one for all queries
  expect_oracles_answer(p);
  p.v = View(p.v.data(), DType::float32, p.v.shape(), {0, 0, 0, 0});
  expect_oracles_answer(p);
}

// A stride of an axis of length 1 may be anything.
TEST(Strides, OfAxesOfLengthOneAreIgnored) {
  Recipe recipe = medium();
  recipe.batch = recipe.key_heads = recipe.group = 1;
  const Made made = make(recipe);
  AttentionProblem odd = made.problem;
  const auto with_odd_strides = [](const View& view) {
    Strides strides = view.strides();
    strides[0] = INT64_MIN;
    strides[1] = INT64_MAX;
    return View(view.data(), view.dtype(), view.shape(), strides);
  };
  odd.q = with_odd_strides(odd.q);
  odd.k = with_odd_strides(odd.k);
  odd.v = with_odd_strides(odd.v);
  for (const Route& route : routes()) {
    EXPECT_EQ(bit_difference(answer(made.problem, route), answer(odd, route)), "") << route.name;
  }
}

TEST(Strides, OutputsMayBeStrided) {
  const Made made = make(medium());
  for (const Route& route : routes()) {
    const Answer right = answer(made.problem, route);
    for (const Layout layout : {Layout::bthd, Layout::reversed, Layout::gapped}) {
      LaidOut output = laid_out(right.output, layout);
      LaidOut lse = laid_out(right.lse, layout);
      LaidOut sums = laid_out(right.column_sums, layout);
      for (LaidOut* each : {&output, &lse, &sums}) {
        std::memset(each->memory.raw(), 0x7F, each->memory.bytes());
      }
      const SimdScope scope(route.simd.empty() ? "best" : route.simd);
      attend(made.problem,
             {.output = output.writable, .lse = lse.writable, .column_sums = sums.writable},
             {.path = route.path});
      EXPECT_EQ(values_of(output.view), values_of(right.output.view())) << route.name;
      EXPECT_EQ(values_of(lse.view), values_of(right.lse.view())) << route.name;
      EXPECT_EQ(values_of(sums.view), values_of(right.column_sums.view())) << route.name;
      // What lies between the elements is not touched.
      if (layout != Layout::gapped) continue;
      std::int64_t untouched = 0;
      for (std::int64_t n = 0; n < output.memory.size(); ++n) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, output.memory.data<float>() + n, 4);
        untouched += bits == 0x7F7F7F7FU;
      }
      EXPECT_EQ(untouched, output.memory.size() - right.output.size());
    }
  }
}

// Token strides beyond 2^31 elements over a few pages of data: an index that is cut to 32 bits
// reads zeros or leaves the reservation.
TEST(Strides, BeyondThirtyTwoBits) {
  constexpr std::int64_t kStride = (std::int64_t{1} << 31) + 17;
  constexpr std::int64_t kTokens = 3;
  Recipe recipe;
  recipe.queries = recipe.keys = kTokens;
  recipe.width = recipe.value_width = 8;
  recipe.causal = true;
  const Made small = make(recipe);
  const Reservation memory(static_cast<std::size_t>(kStride) * 4 * (kTokens + 1));
  if (!memory) GTEST_SKIP() << "32 GiB of address space are not to be had";
  const auto spread = [&](const View& from, std::int64_t first, std::int64_t stride) {
    const MutableView to(memory.floats() + first, {1, 1, kTokens, 8}, {0, 0, stride, 1});
    for (std::int64_t i = 0; i < kTokens; ++i) {
      std::memcpy(memory.floats() + first + i * stride,
                  static_cast<const float*>(from.data()) + i * 8, 32);
    }
    return to;
  };
  AttentionProblem huge = small.problem;
  huge.q = spread(small.problem.q, 0, kStride);
  huge.k = spread(small.problem.k, 64, kStride);
  huge.v = spread(small.problem.v, 128 + 2 * kStride, -kStride);
  const MutableView output(memory.floats() + 256, {1, 1, kTokens, 8}, {0, 0, kStride, 1});
  for (const Route& route : routes()) {
    const Answer right = answer(small.problem, route);
    const SimdScope scope(route.simd.empty() ? "best" : route.simd);
    attend(huge, {.output = output}, {.path = route.path});
    EXPECT_EQ(values_of(output), values_of(right.output.view())) << route.name;
  }
}

}  // namespace
}  // namespace volvelle::testing
