// Gradients against central differences of the forward oracle, in float64: every option and every
// input; and every known fault, which must be caught.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "support/gradients.h"

namespace volvelle::testing {
namespace {

constexpr double kStep = 1e-4;
constexpr double kNear = 2e-7;  // the step's square, and rounding over the step

// A problem whose floating arrays are float64 tensors of its own, to be moved element by element.
struct Movable {
  explicit Movable(const Recipe& recipe) : made(make(recipe)), problem(made.problem) {
    for (const NamedGradient& gradient : named_gradients()) {
      View& view = problem.*gradient.of;
      if (!view) continue;
      arrays.*gradient.array = converted(view, DType::float64);
      view = (arrays.*gradient.array).view();
    }
    grad_output = converted(made.grad_output, DType::float64);
  }

  double loss() const {
    const std::vector<double> output = values_of(oracle_answer(problem).output.view());
    const std::vector<double> weight = values_of(grad_output.view());
    double sum = 0;
    for (std::size_t n = 0; n < output.size(); ++n) sum += weight[n] * output[n];
    return sum;
  }

  double slope(double& element) const {
    const double middle = element;
    element = middle + kStep;
    const double above = loss();
    element = middle - kStep;
    const double below = loss();
    element = middle;
    return (above - below) / (2 * kStep);
  }

  Made made;
  AttentionProblem problem;
  Gradients arrays;
  Tensor grad_output;
};

// The differences of every element; NaN where the element is not finite and cannot move.
Gradients differences(Movable& movable) {
  Gradients found;
  for (const NamedGradient& gradient : named_gradients()) {
    Tensor& array = movable.arrays.*gradient.array;
    if (!array) continue;
    double* element = array.data<double>();
    found.*gradient.array = filled(DType::float64, array.shape(), [&] {
      double& place = *element++;
      return std::isfinite(place) ? movable.slope(place) : std::nan("");
    });
  }
  return found;
}

// The first element of `ours` that is not the difference.
std::string wrong_element(const Gradients& ours, const Gradients& right) {
  for (const NamedGradient& gradient : named_gradients()) {
    const std::vector<double> a = values_of((ours.*gradient.array).view());
    const std::vector<double> b = values_of((right.*gradient.array).view());
    for (std::size_t n = 0; n < a.size(); ++n) {
      if (std::isnan(b[n])) {  // not finite: nobody sees it, or it takes its key out
        if (a[n] == 0) continue;
      } else if (std::fabs(a[n] - b[n]) <= kNear * (1 + std::fabs(b[n]))) {
        continue;
      }
      return std::string(gradient.name) + " element " + std::to_string(n) + ": " +
             std::to_string(a[n]) + ", difference " + std::to_string(b[n]);
    }
  }
  return {};
}

Recipe small(std::uint64_t seed) {
  Recipe recipe;
  recipe.seed = seed;
  recipe.dtype = DType::float64;
  recipe.bias_dtype = DType::float64;
  recipe.batch = 2;
  recipe.key_heads = 2;
  recipe.group = 2;
  recipe.queries = 4;
  recipe.keys = 5;
  recipe.width = 3;
  recipe.value_width = 2;
  return recipe;
}

void expect_differences(const Recipe& recipe) {
  SCOPED_TRACE(::testing::PrintToString(recipe));
  Movable movable(recipe);
  const Gradients right = differences(movable);
  EXPECT_EQ(wrong_element(oracle_gradients(movable.problem, movable.grad_output.view()), right), "")
      << "oracle";
  for (const Route& route : gradient_routes_of(movable.problem)) {
    EXPECT_EQ(wrong_element(gradients(movable.problem, movable.grad_output.view(), route), right),
              "")
        << route.name;
  }
}

TEST(GradientDifferences, PlainAndScaled) {
  Recipe recipe = small(1);
  expect_differences(recipe);
  recipe.scale = -0.7;
  recipe.layout = Layout::bthd;
  expect_differences(recipe);
}

TEST(GradientDifferences, HeadsGroupedOrNot) {
  Recipe recipe = small(2);
  recipe.group = 1;
  expect_differences(recipe);
  recipe.group = 3;
  recipe.key_heads = 1;
  expect_differences(recipe);
}

TEST(GradientDifferences, SoftCap) {
  Recipe recipe = small(3);
  recipe.softcap = 0.8;
  recipe.bias = Span::plane;
  expect_differences(recipe);
}

TEST(GradientDifferences, DenseBiasOfEverySpan) {
  for (const Span span : {Span::full, Span::per_head, Span::per_batch, Span::plane, Span::keys,
                          Span::scalar, Span::queries}) {
    Recipe recipe = small(4);
    recipe.bias = span;
    recipe.bias_minus_infinity = span == Span::full;
    expect_differences(recipe);
  }
}

TEST(GradientDifferences, BiasesByPosition) {
  Recipe recipe = small(5);
  recipe.slopes = true;
  recipe.table_reach = 2;
  recipe.buckets = Buckets::two_way;
  expect_differences(recipe);
  recipe.buckets = Buckets::one_way;
  recipe.query_positions = recipe.key_positions = true;
  expect_differences(recipe);
}

TEST(GradientDifferences, RelativeVectors) {
  Recipe recipe = small(9);
  recipe.relative_dtype = DType::float64;
  recipe.relative_keys = 2;
  expect_differences(recipe);
  recipe.relative_queries = 1;
  recipe.relative_values = 3;
  recipe.relative_shared = false;
  recipe.causal = recipe.poison = true;
  recipe.softcap = 0.8;
  recipe.dropout = 0.3;
  expect_differences(recipe);
  recipe.relative_shared = true;
  recipe.query_positions = recipe.key_positions = true;
  expect_differences(recipe);
}

TEST(GradientDifferences, Sinks) {
  Recipe recipe = small(6);
  recipe.sinks = true;
  recipe.causal = true;
  recipe.alignment = Alignment::top_left;
  expect_differences(recipe);
}

TEST(GradientDifferences, TurnsOfEveryKind) {
  for (const RotaryPairing pairing : {RotaryPairing::split_half, RotaryPairing::interleaved}) {
    for (const std::int64_t turned : {4, 6}) {
      Recipe recipe = small(10);
      recipe.width = 7;
      recipe.turned = turned;
      recipe.pairing = pairing;
      recipe.causal = true;
      expect_differences(recipe);
      recipe.turn_by_row = recipe.turn_keys_apart = true;
      recipe.query_positions = recipe.key_positions = true;
      recipe.turn_dtype = DType::float64;
      recipe.softcap = 0.8;
      recipe.layout = Layout::bthd;
      expect_differences(recipe);
      recipe.keys_are_turned = true;
      expect_differences(recipe);
    }
  }
}

TEST(GradientDifferences, EveryExclusion) {
  const auto with = [](const std::function<void(Recipe&)>& set) {
    Recipe recipe = small(7);
    recipe.poison = true;
    set(recipe);
    expect_differences(recipe);
  };
  with([](Recipe& r) { r.causal = true; });
  with([](Recipe& r) {
    r.causal = true;
    r.prefix = 2;
    r.alignment = Alignment::top_left;
  });
  with([](Recipe& r) { r.window = 2; });
  with([](Recipe& r) { r.window_right = 1; });
  with([](Recipe& r) { r.chunk = 2; });
  with([](Recipe& r) { r.query_offset = r.causal = true; });
  with([](Recipe& r) { r.key_lengths = true; });
  with([](Recipe& r) {
    r.key_lengths = true;
    r.padding = Padding::left;
  });
  with([](Recipe& r) { r.segments = 2; });
  with([](Recipe& r) {
    r.keep = Span::full;
    r.kept = 0.4;
    r.bias = Span::full;
    r.sinks = true;
  });
}

TEST(GradientDifferences, Dropout) {
  Recipe recipe = small(8);
  recipe.dropout = 0.4;
  recipe.softcap = 2;
  recipe.bias = Span::per_head;
  recipe.sinks = true;
  expect_differences(recipe);
}

Recipe with_everything() {
  Recipe recipe = small(9);
  recipe.turned = 2;
  recipe.softcap = 0.9;
  recipe.bias = Span::plane;
  recipe.slopes = true;
  recipe.table_reach = 1;
  recipe.buckets = Buckets::two_way;
  recipe.sinks = true;
  recipe.causal = true;
  recipe.window = 4;
  recipe.dropout = 0.3;
  recipe.relative_keys = recipe.relative_queries = recipe.relative_values = 1;
  recipe.relative_dtype = DType::float64;
  return recipe;
}

TEST(GradientDifferences, Everything) { expect_differences(with_everything()); }

TEST(GradientDifferences, ControlsEveryFaultIsCaught) {
  Movable movable(with_everything());
  const Gradients right = differences(movable);
  for (int n = 1; n < kBackwardFaults; ++n) {
    const Gradients wrong = oracle_gradients(movable.problem, movable.grad_output.view(),
                                             static_cast<BackwardFault>(n));
    EXPECT_NE(wrong_element(wrong, right), "") << "fault " << n;
  }
}

}  // namespace
}  // namespace volvelle::testing
