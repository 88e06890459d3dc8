// The fused backward's bits: the same for any number of threads, whatever else is in the batch,
// and whichever gradients are asked for; and non-finite numbers behind the mask change none.
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "support/gradients.h"
#include "support/slices.h"

namespace volvelle::testing {
namespace {

// Keys for several blocks and queries for several groups; with one head, tasks wait for each other.
Recipe deep(DType dtype) {
  Recipe recipe;
  recipe.seed = 11;
  recipe.dtype = dtype;
  recipe.queries = 200;
  recipe.keys = 1100;
  recipe.width = 12;
  recipe.value_width = 20;
  return recipe;
}

Recipe busy(DType dtype) {
  Recipe recipe = deep(dtype);
  recipe.batch = recipe.key_heads = recipe.group = 2;
  recipe.keys = 700;
  recipe.causal = recipe.slopes = recipe.sinks = true;
  recipe.softcap = 3;
  recipe.bias = Span::plane;
  recipe.table_reach = 9;
  recipe.buckets = Buckets::one_way;
  recipe.keep = Span::full;
  recipe.dropout = 0.3;
  return recipe;
}

Recipe summed_over_keys(DType dtype) {
  Recipe recipe = deep(dtype);
  recipe.batch = 2;
  recipe.bias = Span::queries;
  recipe.window = 400;
  return recipe;
}

Recipe by_offset(DType dtype) {
  Recipe recipe = deep(dtype);
  recipe.causal = recipe.slopes = true;
  recipe.table_reach = 300;
  recipe.buckets = Buckets::two_way;
  return recipe;
}

TEST(FusedBackwardBits, AreTheSameForOneToEightThreads) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    for (const Recipe& recipe :
         {deep(dtype), busy(dtype), summed_over_keys(dtype), by_offset(dtype)}) {
      SCOPED_TRACE(::testing::PrintToString(recipe));
      const Made made = make(recipe);
      for (const Route& route : fused_routes()) {
        const Gradients alone = gradients(made.problem, made.grad_output, route, 1);
        const int step = dtype == DType::float32 ? 1 : 3;
        for (int threads = 2; threads <= 8; threads += step) {
          EXPECT_EQ(
              bit_difference(gradients(made.problem, made.grad_output, route, threads), alone), "")
              << route.name << " on " << threads << " threads";
        }
      }
    }
  }
}

TEST(FusedBackwardBits, DoNotDependOnTheRestOfTheBatch) {
  Recipe recipe = deep(DType::float32);
  recipe.batch = 3;
  recipe.key_heads = 2;
  recipe.causal = true;
  const Made made = make(recipe);
  for (const Route& route : fused_routes()) {
    const Gradients all = gradients(made.problem, made.grad_output, route, 3);
    for (std::int64_t b = 0; b < recipe.batch; ++b) {
      AttentionProblem one = made.problem;
      one.q = slice(one.q, 0, b, 1);
      one.k = slice(one.k, 0, b, 1);
      one.v = slice(one.v, 0, b, 1);
      const Gradients alone = gradients(one, slice(made.grad_output, 0, b, 1), route, 1);
      for (const NamedGradient& gradient : named_gradients()) {
        const Tensor& part = alone.*gradient.array;
        if (!part) continue;
        const auto* of_all = static_cast<const char*>((all.*gradient.array).raw()) +
                             static_cast<std::size_t>(b) * part.bytes();
        EXPECT_EQ(std::memcmp(of_all, part.raw(), part.bytes()), 0)
            << gradient.name << " of row " << b << ", " << route.name;
      }
    }
  }
}

// One alone, so that whatever it needs is computed and nothing else.
TEST(FusedBackwardBits, OfOneGradientAreThoseOfAll) {
  const Made made = make(busy(DType::float32));
  const AttentionProblem& problem = made.problem;
  for (const Route& route : fused_routes()) {
    const Answer saved = answer(problem, route);
    const Gradients all = gradients(problem, made.grad_output, route);
    const SimdScope scope(route.simd);
    for (const NamedGradient& gradient : named_gradients()) {
      Gradients one;
      const View& of = problem.*gradient.of;
      if (!of) continue;
      one.*gradient.array = Tensor(of.dtype(), of.shape());
      attend_backward(problem, {.output = saved.output.view(), .lse = saved.lse.view()},
                      made.grad_output, views_of(one),
                      {.path = AttentionPath::fused, .threads = 2});
      EXPECT_EQ(std::memcmp((one.*gradient.array).raw(), (all.*gradient.array).raw(),
                            (one.*gradient.array).bytes()),
                0)
          << gradient.name << ", " << route.name;
    }
  }
}

// `poison` puts NaN and infinity into keys and values that no query sees and leaves all else.
TEST(FusedBackwardBits, AreThoseOfCleanNumbersWhenTheMaskHidesOthers) {
  const auto expect_same = [](Recipe recipe) {
    recipe.batch = 2;
    SCOPED_TRACE(::testing::PrintToString(recipe));
    const Made clean = make(recipe);
    recipe.poison = true;
    const Made poisoned = make(recipe);
    for (const Route& route : fused_routes()) {
      const Gradients right = gradients(clean.problem, clean.grad_output, route, 2);
      const Gradients ours = gradients(poisoned.problem, clean.grad_output, route, 2);
      for (const NamedGradient& gradient : named_gradients()) {
        if (!(ours.*gradient.array)) continue;
        EXPECT_EQ(values_of((ours.*gradient.array).view()),
                  values_of((right.*gradient.array).view()))
            << gradient.name << ", " << route.name;
      }
    }
  };
  Recipe recipe = deep(DType::float32);
  recipe.keys = 400;
  recipe.alignment = Alignment::top_left;
  recipe.causal = true;
  expect_same(recipe);
  recipe.causal = false;
  recipe.key_lengths = true;
  expect_same(recipe);
  recipe.keep = Span::keys;
  expect_same(recipe);
  recipe.segments = 5;
  expect_same(recipe);
}

// A query whose row is NaN spoils the keys that it sees, and no other.
TEST(FusedBackwardBits, ARowThatIsNotFiniteReachesOnlyTheKeysThatItSees) {
  Recipe recipe = deep(DType::float32);
  recipe.queries = recipe.keys = 300;
  recipe.causal = true;
  const Made clean = make(recipe);
  constexpr std::int64_t kBad = 70;
  for (const bool in_query : {false, true}) {
    const Made made = make(recipe);
    const View& view = in_query ? made.problem.q : made.grad_output;
    set_element(const_cast<void*>(view.data()), DType::float32, kBad * view.strides()[2] + 3,
                std::nan(""));
    for (const Route& route : fused_routes()) {
      const Gradients right = gradients(clean.problem, clean.grad_output, route);
      const Gradients ours = gradients(made.problem, made.grad_output, route);
      for (const auto& [mine, theirs, width] :
           {std::tuple{&ours.k, &right.k, recipe.width},
            std::tuple{&ours.v, &right.v, recipe.value_width}}) {
        const std::vector<double> a = values_of(mine->view());
        const std::vector<double> b = values_of(theirs->view());
        for (std::int64_t j = 0; j < recipe.keys; ++j) {
          bool nan = false;
          for (std::int64_t d = 0; d < width; ++d) {
            const auto at = static_cast<std::size_t>(j * width + d);
            nan = nan || std::isnan(a[at]);
            if (j > kBad) {
              ASSERT_EQ(a[at], b[at]) << "key " << j << ", " << route.name;
            }
          }
          ASSERT_EQ(nan, j <= kBad) << "key " << j << ", " << route.name;
        }
      }
      const std::vector<double> a = values_of(ours.q.view());
      const std::vector<double> b = values_of(right.q.view());
      for (std::int64_t at = 0; at < static_cast<std::int64_t>(a.size()); ++at) {
        const bool bad = at / recipe.width == kBad;
        ASSERT_EQ(std::isnan(a[static_cast<std::size_t>(at)]), bad) << at;
        if (!bad) {
          ASSERT_EQ(a[static_cast<std::size_t>(at)], b[static_cast<std::size_t>(at)]) << at;
        }
      }
    }
  }
}

}  // namespace
}  // namespace volvelle::testing
