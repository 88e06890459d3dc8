// What is excluded takes no part in gradients: exact zeros, and nothing that is not finite leaks.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "attention/oracle_terms.h"
#include "support/gradients.h"
#include "support/slices.h"

namespace volvelle::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool all_finite(const Gradients& gradients) {
  for (const NamedGradient& gradient : named_gradients()) {
    for (const double value : values_of((gradients.*gradient.array).view())) {
      if (!std::isfinite(value)) return false;
    }
  }
  return true;
}

// Every query row that sees nothing and every key row that nobody sees has exact zeros; counts
// them.
int expect_zeros(const AttentionProblem& problem, const Gradients& ours, const std::string& name) {
  const ResolvedAttention r = resolve(problem);
  const std::int64_t group = r.heads / r.key_heads;
  int rows = 0;
  const auto expect_zero_row = [&](const Tensor& array, std::int64_t row) {
    const std::int64_t width = array.shape()[3];
    for (std::int64_t d = 0; d < width; ++d) {
      EXPECT_EQ(element_as_double(array.view(), row * width + d), 0) << name << " row " << row;
    }
    ++rows;
  };
  for (std::int64_t b = 0; b < r.batch; ++b) {
    for (std::int64_t g = 0; g < r.key_heads; ++g) {
      std::vector<bool> key_seen(static_cast<std::size_t>(r.keys));
      for (std::int64_t h = g * group; h < (g + 1) * group; ++h) {
        for (std::int64_t i = 0; i < r.queries; ++i) {
          bool any = false;
          for (std::int64_t j = 0; j < r.keys; ++j) {
            if (!sees(r, {b, h, i, j}, AttentionFault::none)) continue;
            any = key_seen[static_cast<std::size_t>(j)] = true;
          }
          if (!any) expect_zero_row(ours.q, (b * r.heads + h) * r.queries + i);
        }
      }
      for (std::int64_t j = 0; j < r.keys; ++j) {
        if (key_seen[static_cast<std::size_t>(j)]) continue;
        expect_zero_row(ours.k, (b * r.key_heads + g) * r.keys + j);
        expect_zero_row(ours.v, (b * r.key_heads + g) * r.keys + j);
      }
    }
  }
  return rows;
}

// NaN and infinity in every key and value that nobody sees, in grad_output of rows without a key,
// and in what a full bias holds for excluded pairs.
void expect_no_leak(Recipe recipe) {
  recipe.batch = 2;
  recipe.group = 2;
  recipe.queries = 37;
  recipe.keys = 150;
  recipe.width = 7;
  recipe.value_width = 5;
  recipe.poison = true;
  SCOPED_TRACE(::testing::PrintToString(recipe));
  const Made made = make(recipe);
  const Gradients right = oracle_gradients(made.problem, made.grad_output);
  EXPECT_TRUE(all_finite(right));
  for (const Route& route : gradient_routes()) {
    const Gradients ours = gradients(made.problem, made.grad_output, route, 2);
    EXPECT_TRUE(all_finite(ours)) << route.name;
    EXPECT_GT(expect_zeros(made.problem, ours, route.name), 0) << "nothing was hidden";
    EXPECT_EQ(gradient_difference(made.problem, made.grad_output, ours, right), "") << route.name;
  }
  // The control: the same numbers where nothing is excluded do reach the gradients.
  AttentionProblem open = made.problem;
  open.causal = false;
  open.window = open.window_right = open.chunk = open.prefix = 0;
  open.key_lengths = open.query_segments = open.key_segments = open.keep = {};
  open.padding = Padding::right;
  for (const Route& route : gradient_routes()) {
    EXPECT_FALSE(all_finite(gradients(open, made.grad_output, route))) << route.name << " control";
  }
}

TEST(GradientMask, NothingLeaksThroughAnyExclusion) {
  const auto with = [](const std::function<void(Recipe&)>& set) {
    Recipe recipe;
    set(recipe);
    expect_no_leak(recipe);
  };
  with([](Recipe& r) {
    r.causal = true;
    r.alignment = Alignment::top_left;
    r.softcap = 2;
  });
  with([](Recipe& r) { r.window = 5; });
  with([](Recipe& r) { r.chunk = 25; });
  with([](Recipe& r) { r.key_lengths = true; });
  with([](Recipe& r) {
    r.key_lengths = true;
    r.padding = Padding::left;
    r.sinks = true;
  });
  with([](Recipe& r) {
    r.segments = 4;
    r.key_lengths = true;
    r.bias = Span::full;
  });
  for (const DType dtype : {DType::float64, DType::float16, DType::bfloat16}) {
    with([&](Recipe& r) {
      r.dtype = dtype;
      r.causal = true;
      r.alignment = Alignment::top_left;
      r.keep = Span::keys;
    });
  }
}

// Rows without a key, among them one whose grad_output is not finite: exactly nothing from them.
TEST(GradientMask, EmptyRowsGiveExactlyNothing) {
  Recipe recipe;
  recipe.queries = 9;
  recipe.keys = 6;
  recipe.causal = true;  // bottom right: the first three rows see nothing
  recipe.slopes = recipe.sinks = true;
  recipe.table_reach = 1;
  Made made = make(recipe);
  Tensor grad = copy_of(made.grad_output);
  for (int e = 0; e < 12; ++e) grad.data<float>()[e] = e % 2 == 0 ? kInfinity : std::nanf("");
  for (const Route& route : gradient_routes()) {
    const Gradients ours = gradients(made.problem, grad.view(), route);
    EXPECT_TRUE(all_finite(ours)) << route.name;
    EXPECT_EQ(expect_zeros(made.problem, ours, route.name), 3);
    EXPECT_EQ(bit_difference(ours, gradients(made.problem, made.grad_output, route)), "")
        << route.name;
  }
  // All rows empty: all gradients zero.
  AttentionProblem blind = made.problem;
  const std::int32_t none = 0;
  blind.key_lengths = View(&none, {1});
  for (const Route& route : gradient_routes()) {
    const Gradients ours = gradients(blind, grad.view(), route);
    for (const NamedGradient& gradient : named_gradients()) {
      for (const double value : values_of((ours.*gradient.array).view())) EXPECT_EQ(value, 0);
    }
  }
}

// A bias of -inf on every key of a row leaves it as empty as a mask does.
TEST(GradientMask, RowsAtMinusInfinityAreEmpty) {
  Recipe recipe;
  recipe.queries = 3;
  recipe.keys = 4;
  Made made = make(recipe);
  std::vector<float> bias(12, 0.0F);
  for (int j = 4; j < 8; ++j) bias[static_cast<std::size_t>(j)] = -kInfinity;
  made.problem.bias = View(bias.data(), {3, 4});
  for (const Route& route : gradient_routes()) {
    const Gradients ours = gradients(made.problem, made.grad_output, route);
    EXPECT_TRUE(all_finite(ours)) << route.name;
    for (int d = 0; d < 4; ++d) EXPECT_EQ(ours.q.data<float>()[4 + d], 0) << route.name;
    for (int j = 4; j < 8; ++j) EXPECT_EQ(ours.bias.data<float>()[j], 0) << route.name;
    EXPECT_EQ(gradient_difference(made.problem, made.grad_output, ours,
                                  oracle_gradients(made.problem, made.grad_output)),
              "")
        << route.name;
  }
}

// A NaN that is seen makes what it reaches NaN, and no other row.
TEST(GradientMask, ASeenNaNReachesWhatSeesItOnly) {
  Recipe recipe;
  recipe.queries = recipe.keys = 50;
  recipe.causal = true;
  Made made = make(recipe);
  Tensor q = copy_of(made.problem.q);
  q.data<float>()[20 * 4 + 1] = std::nanf("");
  made.problem.q = q.view();
  for (const Route& route : gradient_routes()) {
    const Gradients ours = gradients(made.problem, made.grad_output, route);
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(std::isnan(ours.q.data<float>()[i * 4]), i == 20) << route.name << " query " << i;
      EXPECT_EQ(std::isnan(ours.k.data<float>()[i * 4]), i <= 20) << route.name << " key " << i;
      EXPECT_EQ(std::isnan(ours.v.data<float>()[i * 4]), i <= 20) << route.name << " value " << i;
    }
  }
}

}  // namespace
}  // namespace volvelle::testing
