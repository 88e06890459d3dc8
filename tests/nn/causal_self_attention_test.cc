#include "volvelle/nn/causal_self_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "support/golden_arrays.h"
#include "support/gradient_check.h"
#include "support/plain_block.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using testing::fill_parameters;
using testing::GoldenArrays;
using ::testing::HasSubstr;
using testing::normal_input;

// The document's layer after torch.manual_seed(0), and its input, drawn behind it.
struct DocumentLayer {
  explicit DocumentLayer(const CausalSelfAttentionOptions& options = {.width = 32, .heads = 4})
      : layer(options), x(Tensor(DType::float32, {2, 12, 32})) {
    const auto draws = make_initializer({.seed = 0});
    layer.initialize(*draws);
    draws->normal(x);
  }

  CausalSelfAttention layer;
  Variable x;
};

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CausalSelfAttention, GivesWhatPyTorchGivesForTheDocumentsLayer) {
  const GoldenArrays right("causal_self_attention/layer.npz");
  const DocumentLayer document;
  HeadsOfTokens heads;
  const Tensor y = document.layer.forward(document.x, {}, &heads).value();
  EXPECT_EQ(right.difference("output", y.view()), "");
  const View first_q(heads.q.raw(), DType::float32, {1, 4, 12, 8});
  const View first_k(heads.k.raw(), DType::float32, {1, 4, 12, 8});
  EXPECT_EQ(right.difference("q", first_q), "");
  EXPECT_EQ(right.difference("k", first_k), "");
  EXPECT_EQ(heads.v.shape(), (Shape{2, 4, 12, 8}));

  // Controls: the other pairing, another base, positions of other tokens, no mask.
  for (const char* positions : {"rotary(pairing=interleaved)", "rotary(base=1000)", "none"}) {
    const DocumentLayer other({.width = 32, .heads = 4, .positions = positions});
    const Tensor wrong = other.layer.forward(other.x).value();
    EXPECT_NE(right.difference("output", wrong.view()), "") << positions;
  }
  const DocumentLayer seeing({.width = 32, .heads = 4, .causal = false});
  EXPECT_NE(right.difference("output", seeing.layer.forward(seeing.x).value().view()), "");
}

TEST(CausalSelfAttention, HasFourMatricesAndNothingElse) {
  const CausalSelfAttention layer({.width = 32, .heads = 4});
  EXPECT_EQ(layer.parameter_count(), 4096);
  std::string names;
  for (const NamedParameter& parameter : layer.parameters()) {
    names += parameter.name + " " + to_string(parameter.variable.shape()) + " ";
  }
  EXPECT_EQ(names, "qkv.weight (96,32) out.weight (32,32) ");
  const CausalSelfAttention with_table({.width = 8, .heads = 2, .positions = "clamped(max=3)"});
  EXPECT_EQ(with_table.parameters().back().name, "positions.weight");
}

TEST(CausalSelfAttention, TheMaskIsWhatHidesLaterTokens) {
  for (const bool causal : {true, false}) {
    const DocumentLayer document({.width = 32, .heads = 4, .causal = causal});
    const Tensor before = document.layer.forward(document.x).value();
    Variable changed(copy_of(document.x.view()));
    changed.change();
    for (int i = 11 * 32; i < 12 * 32; ++i) {
      Tensor(changed.value()).data<float>()[i] += 1;
    }
    const Tensor after = document.layer.forward(changed).value();
    bool same = true;
    for (int i = 0; i < 11 * 32; ++i) {
      same = same && before.data<float>()[i] == after.data<float>()[i];
    }
    EXPECT_EQ(same, causal);
  }
}

TEST(CausalSelfAttention, GradientsAreThoseOfDifferences) {
  for (const char* positions : {"rotary(base=20)", "clamped(max=2)"}) {
    const CausalSelfAttention layer(
        {.width = 16, .heads = 2, .positions = positions, .dtype = DType::float64});
    fill_parameters(layer, 1);
    const Variable x(normal_input({2, 4, 16}, 2), true);
    std::vector<Variable> leaves{x};
    for (const NamedParameter& parameter : layer.parameters()) leaves.push_back(parameter.variable);
    const std::int64_t lengths[] = {3, 4};
    testing::expect_gradients(
        [&] {
          return layer.forward(
              x, {.tokens = {.lengths = View(lengths, {2}), .padding = Padding::left}});
        },
        leaves);
  }
}

TEST(CausalSelfAttention, RefusesWhatDoesNotFit) {
  const auto made = [](const CausalSelfAttentionOptions& options) {
    return refusal([&] { CausalSelfAttention{options}; });
  };
  EXPECT_THAT(made({.width = 0}), HasSubstr("width=0"));
  EXPECT_THAT(made({.width = 10, .heads = 4}), HasSubstr("not a multiple of heads=4"));
  EXPECT_NE(made({.width = 12, .heads = 4}), "accepted");  // heads of 3 columns do not turn
  EXPECT_THAT(made({.positions = "sinusoidal"}), HasSubstr("added to the token vectors"));
  EXPECT_NE(made({.positions = "rotery"}), "accepted");
  const CausalSelfAttention layer({.width = 8, .heads = 2});
  EXPECT_THAT(refusal([&] { layer.forward({}); }), HasSubstr("(absent)"));
  EXPECT_THAT(refusal([&] { layer.forward(Variable(Tensor::zeros(DType::float32, {8}))); }),
              HasSubstr("must be (B,T,C) or (T,C)"));
}

}  // namespace
}  // namespace volvelle
