#include "volvelle/nn/stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "nn/parameter_size.h"
#include "support/arrays.h"
#include "support/gradient_check.h"
#include "support/plain_block.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"
#include "volvelle/nn/placement.h"
#include "volvelle/nn/state.h"

namespace volvelle {
namespace {

using ::testing::AllOf;
using testing::expect_gradients;
using testing::fill_parameters;
using ::testing::HasSubstr;
using testing::mixed;
using testing::normal_input;
using testing::PlainBlock;
using testing::Rows;
using testing::values_of;

StackOptions small(const std::string& placement, DType dtype = DType::float64) {
  return {.layers = 2,
          .width = 6,
          .heads = 2,
          .feed_forward = 7,
          .placement = placement,
          .activation = Activation::gelu,
          .dtype = dtype};
}

Variable input(const StackOptions& options, std::int64_t tokens = 4, std::int64_t batch = 2) {
  const Tensor numbers = normal_input({batch, tokens, options.width}, 5);
  return Variable(converted(numbers.view(), options.dtype), true);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a && b && a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

// Output, then the gradient of every parameter and of x, for a fixed gradient of the output.
std::vector<Tensor> run(const Stack& stack, const Variable& x, const ForwardOptions& how = {},
                        StackTrace* trace = nullptr) {
  std::vector<Variable> leaves{x};
  for (const NamedParameter& parameter : stack.parameters()) leaves.push_back(parameter.variable);
  for (Variable& leaf : leaves) leaf.clear_grad();
  const Variable y = stack.forward(x, how, trace);
  backward(y, converted(normal_input(y.shape(), 9).view(), y.dtype()).view());
  std::vector<Tensor> all{y.value()};
  for (Variable& leaf : leaves) {
    all.push_back(copy_of(leaf.grad().view()));
    leaf.clear_grad();
  }
  return all;
}

void expect_same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b,
                      const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(same_bits(a[i], b[i])) << what << ": " << i;
}

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
  const Variable x = input(options);
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

TEST(Stack, EveryPlacementIsItsFormula) {
  for (const NamedFormula& formula : formulas()) {
    EXPECT_LT(difference_from(formula.block, small(formula.name)), 1e-12) << formula.name;
  }
}

TEST(Stack, EveryPlacementIsItsFormulaUnderOtherOptions) {
  for (const NamedFormula& formula : formulas()) {
    StackOptions options = small(formula.name);
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
TEST(Stack, ControlAnotherPlacementIsAnotherFunction) {
  for (const NamedFormula& right : formulas()) {
    for (const char* other : {"pre", "post", "reordered", "deepnorm", "parallel-two-norms"}) {
      if (std::string(right.name) == other) continue;
      double difference = 1;
      try {
        difference = difference_from(right.block, small(other));
      } catch (const std::out_of_range&) {  // it lacks a norm that the formula has
      }
      EXPECT_GT(difference, 1e-3) << other << " as " << right.name;
    }
  }
}

TEST(Stack, GradientsOfEveryPlacementAreThoseOfDifferences) {
  for (const NamedFormula& formula : formulas()) {
    SCOPED_TRACE(formula.name);
    StackOptions options = small(formula.name);
    options.width = 4;
    options.feed_forward = 3;
    const Stack stack(options);
    fill_parameters(stack, 3);
    const Variable x = input(options, 3, 1);
    std::vector<Variable> leaves{x};
    for (const NamedParameter& parameter : stack.parameters()) leaves.push_back(parameter.variable);
    expect_gradients([&] { return stack.forward(x); }, leaves);
  }
}

TEST(Stack, GradientsOfEveryOptionAreThoseOfDifferences) {
  StackOptions options = small("sandwich");
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
    const Variable x = input(options, 3, 1);
    std::vector<Variable> leaves{x};
    for (const NamedParameter& parameter : stack.parameters()) leaves.push_back(parameter.variable);
    expect_gradients([&] { return stack.forward(x); }, leaves);
  }
}

TEST(Stack, PlacementMayDifferByLayer) {
  const StackOptions options = small("post | pre");
  const Stack mixed_stack(options);
  fill_parameters(mixed_stack, 3);
  const Variable x = input(options);
  Rows stream = rows_of(x.value(), 0);
  stream = formulas()[1].block(PlainBlock(options, mixed_stack, "layers.0."), stream, 0);
  stream = formulas()[0].block(PlainBlock(options, mixed_stack, "layers.1."), stream, 0);
  ASSERT_TRUE(mixed_stack.has_final_norm());
  stream = PlainBlock(options, mixed_stack, "").named_norm("norm", stream);
  EXPECT_LT(largest_difference(rows_of(mixed_stack.forward(x).value(), 0), stream), 1e-12);
  EXPECT_FALSE(Stack(small("pre | post")).has_final_norm());
}

TEST(Stack, AFinalNormComesWhereTheStreamNeedsOneAndWhereItIsAskedFor) {
  const auto has = [](const char* placement, FinalNorm final_norm) {
    StackOptions options = small(placement);
    options.final_norm = final_norm;
    return Stack(options).has_final_norm();
  };
  EXPECT_TRUE(has("pre", FinalNorm::automatic));
  EXPECT_TRUE(has("none", FinalNorm::automatic));
  EXPECT_FALSE(has("post", FinalNorm::automatic));
  EXPECT_FALSE(has("pre", FinalNorm::no));
  EXPECT_TRUE(has("post", FinalNorm::yes));
}

TEST(Stack, RecomputedActivationsChangeNoBit) {
  for (const char* placement : {"pre", "post", "sandwich"}) {
    for (const DType dtype : {DType::float32, DType::float64}) {
      StackOptions options = small(placement, dtype);
      options.dropout = 0.2;
      const Stack kept(options);
      options.recompute = true;
      const Stack again(options);
      fill_parameters(kept, 3);
      fill_parameters(again, 3);
      const ForwardOptions how{.training = true, .dropout_seed = 4};
      const Variable x = input(options);
      expect_same_bits(run(kept, x, how), run(again, x, how), placement);
    }
  }
}

TEST(Stack, ThreadsChangeNoBit) {
  StackOptions options = small("pre", DType::float32);
  options.width = 36;
  options.heads = 3;
  options.feed_forward = 150;
  options.causal = true;
  options.dropout = 0.1;
  const Stack stack(options);
  fill_parameters(stack, 3);
  const Variable x = input(options, 37, 3);
  for (const DType compute : {DType::float32, DType::bfloat16}) {
    const auto with = [&](int threads) {
      const ThreadScope scope(threads);
      return run(stack, x,
                 {.training = true, .compute = compute, .dropout_seed = 1, .threads = threads});
    };
    const std::vector<Tensor> one = with(1);
    expect_same_bits(one, with(2), "2 threads");
    expect_same_bits(one, with(8), "8 threads");
  }
}

TEST(Stack, ATraceChangesNoBitAndAddsUp) {
  for (const NamedFormula& formula : formulas()) {
    const StackOptions options = small(formula.name, DType::float32);
    const Stack stack(options);
    fill_parameters(stack, 3);
    const Variable x = input(options);
    StackTrace trace;
    expect_same_bits(run(stack, x), run(stack, x, {}, &trace), formula.name);
    ASSERT_EQ(trace.inputs.size(), 3u);
    ASSERT_EQ(trace.branches.size(), 2u);
    EXPECT_TRUE(same_bits(trace.inputs[0].value(), x.value()));
  }
  // Pre-LN: the stream is the sum of what its branches added.
  const StackOptions options = small("pre", DType::float32);
  const Stack stack(options);
  fill_parameters(stack, 3);
  StackTrace trace;
  stack.forward(input(options), {}, &trace);
  ASSERT_EQ(trace.branches[0].size(), 2u);
  const auto numbers = [](const Variable& variable) { return variable.value().data<float>(); };
  for (std::int64_t i = 0; i < trace.inputs[0].size(); ++i) {
    EXPECT_EQ(numbers(trace.inputs[0])[i] + numbers(trace.branches[0][0])[i] +
                  numbers(trace.branches[0][1])[i],
              numbers(trace.inputs[1])[i]);
  }
}

TEST(Stack, ATraceKeepsGradientsOfTheStream) {
  const StackOptions options = small("pre");
  const Stack stack(options);
  fill_parameters(stack, 3);
  StackTrace trace;
  const Variable y = stack.forward(input(options), {}, &trace);
  trace.inputs[1].retain_grad();
  backward(y, normal_input(y.shape(), 9).view());
  EXPECT_TRUE(trace.inputs[1].grad());
}

TEST(Stack, DropoutActsInTrainingOnlyAndByItsSeed) {
  StackOptions options = small("pre", DType::float32);
  options.dropout = 0.5;
  const Stack stack(options);
  fill_parameters(stack, 3);
  const Variable x = input(options);
  const Tensor still = stack.forward(x).value();
  options.dropout = 0;
  const Stack without(options);
  fill_parameters(without, 3);
  EXPECT_TRUE(same_bits(still, without.forward(x).value()));
  const auto dropped = [&](std::uint64_t seed) {
    return stack.forward(x, {.training = true, .dropout_seed = seed}).value();
  };
  EXPECT_TRUE(same_bits(dropped(1), dropped(1)));
  EXPECT_FALSE(same_bits(dropped(1), dropped(2)));
  EXPECT_FALSE(same_bits(dropped(1), still));
}

// Each place draws for itself: with equal parameters two layers drop other elements.
TEST(Stack, EveryPlaceOfDropoutHasItsOwnDraws) {
  StackOptions options = small("none", DType::float32);
  options.dropout = 0.5;
  options.final_norm = FinalNorm::no;
  const Stack stack(options);
  for (NamedParameter& parameter : stack.parameters()) {
    const bool is_bias = parameter.name.ends_with("bias");
    parameter.variable.replace(testing::filled(DType::float32, parameter.variable.shape(),
                                               [&]() -> double { return is_bias ? 1 : 0; }));
  }
  StackTrace trace;
  stack.forward(input(options), {.training = true, .dropout_seed = 7}, &trace);
  // Every branch is its bias of ones, dropped.
  std::vector<Tensor> masks;
  for (const std::vector<Variable>& layer : trace.branches) {
    for (const Variable& branch : layer) masks.push_back(branch.value());
  }
  for (std::size_t i = 0; i < masks.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(same_bits(masks[i], masks[j])) << i << j;
  }
}

TEST(Stack, ProductsInBfloat16LeaveStreamAndParametersInFloat32) {
  const StackOptions options = small("pre", DType::float32);
  const Stack stack(options);
  fill_parameters(stack, 3);
  const Variable x = input(options);
  const std::vector<Tensor> exact = run(stack, x);
  const std::vector<Tensor> rounded = run(stack, x, {.compute = DType::bfloat16});
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_EQ(rounded[i].dtype(), DType::float32);
    const std::vector<double> a = values_of(exact[i].view()), b = values_of(rounded[i].view());
    double most = 0, error = 0;
    for (std::size_t e = 0; e < a.size(); ++e) {
      most = std::max(most, std::fabs(a[e]));
      error = std::max(error, std::fabs(a[e] - b[e]));
    }
    EXPECT_LT(error, 0.05 * most) << i;
    if (i < 3) {
      EXPECT_GT(error, 0) << i << ": were they rounded?";
    }
  }
}

TEST(Stack, DrawsBlockByBlockAndDeepNormShrinksWhatItDrew) {
  const auto drawn = [](const char* placement, std::int64_t cut) {
    StackOptions options = small(placement, DType::float32);
    Stack stack(options);
    const auto initializer = make_initializer({.seed = 3, .layers = 2});
    if (cut == 0) {
      stack.initialize(*initializer);
    } else {
      stack.initialize_blocks(*initializer, 0, cut);
      stack.initialize_blocks(*initializer, cut, 2);
    }
    NamedArrays copies;
    for (const NamedArray& array : state_of(stack)) {
      copies.push_back({array.name, copy_of(array.array.view())});
    }
    return copies;
  };
  const NamedArrays post = drawn("post", 0), parts = drawn("post", 1), deep = drawn("deepnorm", 0);
  const auto beta = static_cast<float>(std::pow(16.0, -0.25));
  EXPECT_EQ(Stack(small("deepnorm")).initial_factor(), depth_factors(2).beta);
  EXPECT_EQ(Stack(small("post")).initial_factor(), 1);
  ASSERT_EQ(post.size(), deep.size());
  for (std::size_t i = 0; i < post.size(); ++i) {
    EXPECT_TRUE(same_bits(post[i].array, parts[i].array)) << post[i].name;
    const std::string& name = post[i].name;
    const bool scaled = name.ends_with("out_proj.weight") || name.ends_with("linear1.weight") ||
                        name.ends_with("linear2.weight");
    const bool packed = name.ends_with("in_proj_weight");
    const std::int64_t size = post[i].array.size();
    for (std::int64_t e = 0; e < size; ++e) {
      const bool shrunk = scaled || (packed && e >= size / 3 * 2);  // the rows of v
      EXPECT_EQ(deep[i].array.data<float>()[e],
                post[i].array.data<float>()[e] * (shrunk ? beta : 1))
          << name << " " << e;
    }
  }
}

TEST(Stack, SharesValuesWithAnotherOfTheSameDraws) {
  Stack pre(small("pre", DType::float32)), post(small("post", DType::float32));
  const auto initializer = make_initializer({.seed = 3});
  pre.initialize(*initializer);
  // pre's final norm has no fellow in post.
  EXPECT_EQ(share_values(post, pre), static_cast<std::int64_t>(post.parameters().size()));
  const std::vector<NamedParameter> ours = post.parameters(), theirs = pre.parameters();
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(ours[i].variable.value().raw(), theirs[i].variable.value().raw());
    EXPECT_TRUE(ours[i].variable.is_read_only() && theirs[i].variable.is_read_only());
    EXPECT_TRUE(ours[i].variable.requires_grad());
  }
  // Gradients stay apart.
  const Variable x = input(small("pre", DType::float32));
  const Variable y = post.forward(x);
  backward(y, normal_input(y.shape(), 2).view().dtype() == y.dtype()
                  ? normal_input(y.shape(), 2).view()
                  : converted(normal_input(y.shape(), 2).view(), y.dtype()).view());
  EXPECT_TRUE(ours[0].variable.grad());
  EXPECT_FALSE(theirs[0].variable.grad());
  // Another width shares its norms only where shapes agree: nothing here.
  StackOptions wider = small("pre", DType::float32);
  wider.width = 8;
  Stack other(wider);
  EXPECT_EQ(share_values(other, pre), 2);  // linear1.bias of both blocks
  Stack deep(small("deepnorm", DType::float32));
  EXPECT_THROW(share_values(deep, post), InvalidArgument);
}

TEST(Stack, SublayersThatComeTwiceAreNumbered) {
  const Stack stack(
      small("x + 0.5 * feed_forward(norm(x)); x + attention(norm(x)); "
            "norm(x + 0.5 * feed_forward(norm(x)))"));
  std::string names;
  for (const NamedParameter& parameter : stack.parameters()) {
    if (parameter.name.ends_with(".weight") && parameter.name.starts_with("layers.1.")) {
      names += parameter.name.substr(9) + " ";
    }
  }
  EXPECT_EQ(names,
            "self_attn.out_proj.weight linear1.weight linear2.weight "
            "feed_forward_2.linear1.weight feed_forward_2.linear2.weight norm1.weight "
            "norm2.weight norm3.weight norm4.weight ");
}

std::string refusal(const StackOptions& options) {
  try {
    const Stack stack(options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(Stack, RefusesSizesAndNamesThatDoNotFit) {
  const auto with = [](const auto& change) {
    StackOptions options = small("pre");
    change(options);
    return refusal(options);
  };
  EXPECT_THAT(with([](StackOptions& o) { o.heads = 4; }),
              HasSubstr("[stack] width=6 is not a multiple of heads=4"));
  EXPECT_THAT(with([](StackOptions& o) { o.heads = 4, o.head_width = 2; }),
              HasSubstr("(accepted)"));
  EXPECT_THAT(with([](StackOptions& o) { o.heads = 6, o.key_heads = 4; }),
              HasSubstr("heads=6 is not a multiple of key_heads=4"));
  EXPECT_THAT(with([](StackOptions& o) { o.placement = "prre"; }),
              HasSubstr("did you mean 'pre'?"));
  EXPECT_THAT(with([](StackOptions& o) { o.layers = 0; }), HasSubstr("layers=0 must be positive"));
  EXPECT_THAT(with([](StackOptions& o) { o.layers = 1'000'000'000; }), HasSubstr("at most"));
  EXPECT_THAT(with([](StackOptions& o) { o.width = -6; }), HasSubstr("width=-6 must be positive"));
  EXPECT_THAT(with([](StackOptions& o) { o.heads = 0; }), HasSubstr("heads=0 must be positive"));
  EXPECT_THAT(with([](StackOptions& o) { o.feed_forward = 0; }), HasSubstr("feed_forward=0"));
  EXPECT_THAT(with([](StackOptions& o) { o.key_heads = -1; }), HasSubstr("key_heads=-1"));
  EXPECT_THAT(with([](StackOptions& o) { o.dropout = 1; }), HasSubstr("must be in [0, 1)"));
  EXPECT_THAT(with([](StackOptions& o) { o.epsilon = -1; }), HasSubstr("epsilon"));
  EXPECT_THAT(with([](StackOptions& o) { o.dtype = DType::bfloat16; }),
              HasSubstr("ForwardOptions::compute"));
}

// 12 width^2 parameters a layer: said before a byte is allocated.
TEST(Stack, RefusesWhatWouldNotFitInMemoryWithItsSize) {
  StackOptions options = small("pre", DType::float32);
  options.layers = 1000;
  options.width = 1 << 20;
  options.feed_forward = 4 << 20;
  EXPECT_THAT(refusal(options),
              AllOf(HasSubstr("[stack] 1.319e+16 parameters of float32 need 46.88 PiB"),
                    HasSubstr("this machine has")));
  options.width = std::int64_t{1} << 60;
  options.feed_forward = INT64_MAX;
  EXPECT_THAT(refusal(options), HasSubstr("parameters of float32 need"));
}

TEST(Stack, RefusesInputsThatDoNotFit) {
  StackOptions options = small("pre", DType::float32);
  options.recompute = true;
  const Stack stack(options);
  const auto wrong = [&](const Tensor& x) { return [&stack, x] { stack.forward(Variable(x)); }; };
  EXPECT_THROW(wrong(Tensor::zeros(DType::float32, {2, 3, 5}))(), InvalidArgument);
  EXPECT_THROW(wrong(Tensor::zeros(DType::float64, {2, 3, 6}))(), InvalidArgument);
  EXPECT_THROW(wrong(Tensor::zeros(DType::float32, {6}))(), InvalidArgument);
  EXPECT_THROW(stack.forward({}), InvalidArgument);
  const Variable x(Tensor::zeros(DType::float32, {2, 3, 6}));
  EXPECT_THROW(stack.forward(x, {.compute = DType::float16}), InvalidArgument);
  StackTrace trace;
  EXPECT_THROW(stack.forward(x, {}, &trace), InvalidArgument);
  const NoGrad off;
  stack.forward(x, {}, &trace);
  EXPECT_EQ(trace.inputs.size(), 3u);
}

// The size that is said before is the size there is.
TEST(Stack, KnowsItsSizeBeforeItIsMade) {
  for (const NamedFormula& formula : formulas()) {
    for (const bool other : {false, true}) {
      StackOptions options = small(formula.name);
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
