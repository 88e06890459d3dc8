// Gradients of every small module beside central differences, with their controls; and the sizes
// that modules refuse. Attention, blocks and stacks have files of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "support/gradient_check.h"
#include "support/plain_block.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/embedding.h"
#include "volvelle/nn/feed_forward.h"
#include "volvelle/nn/linear.h"
#include "volvelle/nn/norm.h"
#include "volvelle/nn/positions/learned.h"

namespace volvelle {
namespace {

using testing::expect_gradients;
using testing::fill_parameters;
using ::testing::HasSubstr;
using testing::normal_input;

constexpr DType kDouble = DType::float64;

// By every parameter and by x (2,3,4).
void expect_module_gradients(const Module& module,
                             const std::function<Variable(const Variable& x)>& forward) {
  fill_parameters(module, 1);
  const Variable x(normal_input({2, 3, 4}, 2), true);
  std::vector<Variable> leaves{x};
  for (const NamedParameter& parameter : module.parameters()) leaves.push_back(parameter.variable);
  expect_gradients([&] { return forward(x); }, leaves);
}

TEST(ModuleGradients, OfLinear) {
  for (const Bias bias : {Bias::with, Bias::without}) {
    const Linear linear(4, 5, bias, kDouble);
    const Variable residual(normal_input({2, 3, 5}, 4));
    expect_module_gradients(linear, [&](const Variable& x) {
      return linear.forward(x, {}, {.activation = Activation::gelu, .residual = residual});
    });
  }
}

TEST(ModuleGradients, OfNorms) {
  const LayerNorm layer(4, 1e-3, kDouble);
  expect_module_gradients(layer, [&](const Variable& x) { return layer.forward(x); });
  const RmsNorm rms(4, 1e-3, kDouble);
  expect_module_gradients(rms, [&](const Variable& x) { return rms.forward(x); });
}

TEST(ModuleGradients, OfFeedForward) {
  for (const bool gated : {false, true}) {
    const FeedForward feed_forward({.width = 4,
                                    .feed_forward = 5,
                                    .activation = Activation::silu,
                                    .gated = gated,
                                    .dropout = 0.3,
                                    .dtype = kDouble});
    expect_module_gradients(feed_forward, [&](const Variable& x) {
      return feed_forward.forward(x, {.training = true, .dropout_seed = 5}, x);
    });
  }
}

TEST(ModuleGradients, OfTables) {
  const Embedding embedding(5, 4, kDouble);
  fill_parameters(embedding, 1);
  const std::int64_t ids[] = {3, 0, 3, 1};
  expect_gradients([&] { return embedding.forward(View(ids, {2, 2})); }, {embedding.weight()});
  const LearnedPositions positions(5, 4, kDouble);
  expect_module_gradients(positions, [&](const Variable& x) { return positions.forward(x); });
}

std::string refusal(const std::function<void()>& make) {
  try {
    make();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(ModuleSizes, ThatAreNotPositiveAreRefused) {
  EXPECT_THAT(refusal([] { Linear(0, 3); }), HasSubstr("[linear] inputs=0 must be positive"));
  EXPECT_THAT(refusal([] { Linear(3, -1); }), HasSubstr("[linear] outputs=-1 must be positive"));
  EXPECT_THAT(refusal([] { Embedding(0, 3); }), HasSubstr("[embedding] rows=0"));
  EXPECT_THAT(refusal([] { Embedding(3, 0); }), HasSubstr("[embedding] width=0"));
  EXPECT_THAT(refusal([] { LayerNorm(0); }), HasSubstr("[layer norm] width=0"));
  EXPECT_THAT(refusal([] { RmsNorm(0); }), HasSubstr("[RMS norm] width=0"));
  EXPECT_THAT(refusal([] { LearnedPositions(3, 0); }), HasSubstr("[learned positions] width=0"));
  EXPECT_THAT(refusal([] { FeedForward({.width = 0}); }), HasSubstr("[feed forward] width=0"));
  EXPECT_THAT(refusal([] { FeedForward({.feed_forward = 0}); }), HasSubstr("feed_forward=0"));
}

TEST(ModuleSizes, NumbersOutOfRangeAreRefused) {
  EXPECT_THAT(refusal([] { LayerNorm(3, -1e-5); }), HasSubstr("epsilon"));
  EXPECT_THAT(refusal([] { RmsNorm(3, INFINITY); }), HasSubstr("epsilon"));
  EXPECT_THAT(refusal([] { FeedForward({.dropout = 1}); }), HasSubstr("must be in [0, 1)"));
  EXPECT_THAT(refusal([] { Linear(2, 3, Bias::with, DType::bfloat16); }),
              HasSubstr("parameters are float32 or float64, not bfloat16"));
}

}  // namespace
}  // namespace volvelle
