#include "volvelle/nn/stack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>

#include "nn/parameter_size.h"
#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/plain_block.h"
#include "support/small_stack.h"
#include "volvelle/nn/placement.h"

namespace volvelle {
namespace {

using testing::expect_gradients;
using testing::expect_same_bits;
using testing::fill_parameters;
using testing::mixed;
using testing::PlainBlock;
using testing::Rows;
using testing::run_stack;
using testing::same_bits;
using testing::small_stack;
using testing::stack_input;
using testing::values_of;

// One block as each placement's paper has it.
using Formula = std::function<Rows(const PlainBlock&, const Rows&, double alpha)>;
struct NamedFormula {
  const char* name;
  Formula block;
};

const std::vector<NamedFormula>& formulas() {
  static const std::vector<NamedFormula> kFormulas{
      {"pre",
       [](const PlainBlock& p, const Rows& x, double) {
         const Rows h = mixed(1, x, 1, p.attention(p.norm(1, x)));
         return mixed(1, h, 1, p.feed_forward(p.norm(2, h)));
       }},
      {"post",
       [](const PlainBlock& p, const Rows& x, double) {
         const Rows h = p.norm(1, mixed(1, x, 1, p.attention(x)));
         return p.norm(2, mixed(1, h, 1, p.feed_forward(h)));
       }},
      {"sandwich",
       [](const PlainBlock& p, const Rows& x, double) {
         const Rows h = mixed(1, x, 1, p.norm(2, p.attention(p.norm(1, x))));
         return mixed(1, h, 1, p.norm(4, p.feed_forward(p.norm(3, h))));
       }},
      {"reordered",
       [](const PlainBlock& p, const Rows& x, double) {
         const Rows h = mixed(1, x, 1, p.norm(1, p.attention(x)));
         return mixed(1, h, 1, p.norm(2, p.feed_forward(h)));
       }},
      {"parallel",
       [](const PlainBlock& p, const Rows& x, double) {
         const Rows n = p.norm(1, x);
         return mixed(1, x, 1, mixed(1, p.attention(n), 1, p.feed_forward(n)));
       }},
      {"parallel-two-norms",
       [](const PlainBlock& p, const Rows& x, double) {
         return mixed(1, x, 1,
                      mixed(1, p.attention(p.norm(1, x)), 1, p.feed_forward(p.norm(2, x))));
       }},
      {"deepnorm",
       [](const PlainBlock& p, const Rows& x, double alpha) {
         const Rows h = p.norm(1, mixed(alpha, x, 1, p.attention(x)));
         return p.norm(2, mixed(alpha, h, 1, p.feed_forward(h)));
       }},
      {"none",
       [](const PlainBlock& p, const Rows& x, double) {
         const Rows h = mixed(1, x, 1, p.attention(x));
         return mixed(1, h, 1, p.feed_forward(h));
       }},
      {"norm(0.5 * x + -2 * layer_norm(feed_forward(n)) + attention(n)); x + 0.25 * "
       "attention(rms_norm(x))",
       [](const PlainBlock& p, const Rows& x, double) {
         const Rows n = p.norm(1, x);
         const Rows sum =
             mixed(0.5, x, 1, mixed(-2, p.norm(2, p.feed_forward(n)), 1, p.attention(n)));
         const Rows h = p.norm(3, sum);
         return mixed(1, h, 0.25, p.attention(p.norm(4, h), "self_attn_2"));
       }},
  };
  return kFormulas;
}

Rows rows_of(const Tensor& tokens, std::int64_t batch) {
  const std::int64_t t = tokens.shape()[1], c = tokens.shape()[2];
  const std::vector<double> all = values_of(tokens.view());
  Rows rows;
  for (std::int64_t i = 0; i < t; ++i) {
    const auto first = all.begin() + (batch * t + i) * c;
    rows.emplace_back(first, first + c);
  }
  return rows;
}

double largest_difference(const Rows& a, const Rows& b) {
  double most = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t c = 0; c < a[i].size(); ++c) {
      most = std::max(most, std::fabs(a[i][c] - b[i][c]) / (1 + std::fabs(b[i][c])));
    }
  }
  return most;
}

// How far a stack is from the formula.
double difference_from(const Formula& formula, const StackOptions& options) {
  const Stack stack(options);
  fill_parameters(stack, 3);
  const Variable x = stack_input(options);
  const Variable y = stack.forward(x);
  double most = 0;
  for (std::int64_t b = 0; b < x.shape()[0]; ++b) {
    Rows stream = rows_of(x.value(), b);
    for (std::int64_t layer = 0; layer < options.layers; ++layer) {
      stream = formula(PlainBlock(options, stack, "layers." + std::to_string(layer) + "."), stream,
                       std::pow(2.0 * static_cast<double>(options.layers), 0.25));
    }
    if (stack.has_final_norm()) stream = PlainBlock(options, stack, "").named_norm("norm", stream);
    most = std::max(most, largest_difference(rows_of(y.value(), b), stream));
  }
  return most;
}

TEST(StackPlacements, EveryPlacementIsItsFormula) {
  for (const NamedFormula& formula : formulas()) {
    EXPECT_LT(difference_from(formula.block, small_stack(formula.name)), 1e-12) << formula.name;
  }
}

TEST(StackPlacements, EveryPlacementIsItsFormulaUnderOtherOptions) {
  for (const NamedFormula& formula : formulas()) {
    StackOptions options = small_stack(formula.name);
    options.heads = 4;
    options.key_heads = 2;
    options.head_width = 3;
    options.norm = NormKind::rms;
    options.activation = Activation::silu;
    options.gated = true;
    options.biases = false;
    options.query_key_norm = true;
    options.causal = true;
    options.epsilon = 1e-3;
    EXPECT_LT(difference_from(formula.block, options), 1e-12) << formula.name;
    options.separate_projections = true;
    options.biases = true;
    options.final_norm = FinalNorm::yes;
    EXPECT_LT(difference_from(formula.block, options), 1e-12) << formula.name;
  }
}

// The control: no placement is mistaken for another where their parameters allow the trial.
TEST(StackPlacements, ControlAnotherPlacementIsAnotherFunction) {
  for (const NamedFormula& right : formulas()) {
    for (const char* other : {"pre", "post", "reordered", "deepnorm", "parallel-two-norms"}) {
      if (std::string(right.name) == other) continue;
      double difference = 1;
      try {
        difference = difference_from(right.block, small_stack(other));
      } catch (const std::out_of_range&) {  // it lacks a norm that the formula has
      }
      EXPECT_GT(difference, 1e-3) << other << " as " << right.name;
    }
  }
}

TEST(StackPlacements, GradientsOfEveryPlacementAreThoseOfDifferences) {
  for (const NamedFormula& formula : formulas()) {
    SCOPED_TRACE(formula.name);
    StackOptions options = small_stack(formula.name);
    options.width = 4;
    options.feed_forward = 3;
    const Stack stack(options);
    fill_parameters(stack, 3);
    const Variable x = stack_input(options, 3, 1);
    std::vector<Variable> leaves{x};
    for (const NamedParameter& parameter : stack.parameters()) leaves.push_back(parameter.variable);
    expect_gradients([&] { return stack.forward(x); }, leaves);
  }
}

TEST(StackPlacements, GradientsOfEveryOptionAreThoseOfDifferences) {
  StackOptions options = small_stack("sandwich");
  options.layers = 1;
  options.width = 4;
  options.heads = 2;
  options.key_heads = 1;
  options.head_width = 3;
  options.feed_forward = 3;
  options.norm = NormKind::rms;
  options.activation = Activation::silu;
  options.gated = true;
  options.separate_projections = true;
  options.query_key_norm = true;
  options.causal = true;
  for (const bool separate : {true, false}) {
    options.separate_projections = separate;
    const Stack stack(options);
    fill_parameters(stack, 4);
    const Variable x = stack_input(options, 3, 1);
    std::vector<Variable> leaves{x};
    for (const NamedParameter& parameter : stack.parameters()) leaves.push_back(parameter.variable);
    expect_gradients([&] { return stack.forward(x); }, leaves);
  }
}

TEST(StackPlacements, PlacementMayDifferByLayer) {
  const StackOptions options = small_stack("post | pre");
  const Stack mixed_stack(options);
  fill_parameters(mixed_stack, 3);
  const Variable x = stack_input(options);
  Rows stream = rows_of(x.value(), 0);
  stream = formulas()[1].block(PlainBlock(options, mixed_stack, "layers.0."), stream, 0);
  stream = formulas()[0].block(PlainBlock(options, mixed_stack, "layers.1."), stream, 0);
  ASSERT_TRUE(mixed_stack.has_final_norm());
  stream = PlainBlock(options, mixed_stack, "").named_norm("norm", stream);
  EXPECT_LT(largest_difference(rows_of(mixed_stack.forward(x).value(), 0), stream), 1e-12);
  EXPECT_FALSE(Stack(small_stack("pre | post")).has_final_norm());
}

TEST(StackPlacements, ATraceChangesNoBitAndAddsUp) {
  for (const NamedFormula& formula : formulas()) {
    const StackOptions options = small_stack(formula.name, DType::float32);
    const Stack stack(options);
    fill_parameters(stack, 3);
    const Variable x = stack_input(options);
    StackTrace trace;
    expect_same_bits(run_stack(stack, x), run_stack(stack, x, {}, &trace), formula.name);
    ASSERT_EQ(trace.inputs.size(), 3u);
    ASSERT_EQ(trace.branches.size(), 2u);
    EXPECT_TRUE(same_bits(trace.inputs[0].value(), x.value()));
  }
  // Pre-LN: the stream is the sum of what its branches added.
  const StackOptions options = small_stack("pre", DType::float32);
  const Stack stack(options);
  fill_parameters(stack, 3);
  StackTrace trace;
  stack.forward(stack_input(options), {}, &trace);
  ASSERT_EQ(trace.branches[0].size(), 2u);
  const auto numbers = [](const Variable& variable) { return variable.value().data<float>(); };
  for (std::int64_t i = 0; i < trace.inputs[0].size(); ++i) {
    EXPECT_EQ(numbers(trace.inputs[0])[i] + numbers(trace.branches[0][0])[i] +
                  numbers(trace.branches[0][1])[i],
              numbers(trace.inputs[1])[i]);
  }
}

// The size that is said before is the size there is.
TEST(StackPlacements, KnowsItsSizeBeforeItIsMade) {
  for (const NamedFormula& formula : formulas()) {
    for (const bool other : {false, true}) {
      StackOptions options = small_stack(formula.name);
      options.final_norm = FinalNorm::no;
      if (other) {
        options.head_width = 5;
        options.key_heads = 1;
        options.norm = NormKind::rms;
        options.gated = options.separate_projections = options.query_key_norm = true;
        options.biases = false;
      }
      EXPECT_EQ(static_cast<double>(Stack(options).parameter_count()),
                2 * block_parameters(options, parse_placement(formula.name)))
          << formula.name;
    }
  }
}

}  // namespace
}  // namespace volvelle
