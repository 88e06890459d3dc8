// Models with every position scheme: what padding, packed documents and shifts change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "support/gradient_check.h"
#include "support/plain_block.h"
#include "support/position_texts.h"
#include "support/small_stack.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/block.h"
#include "volvelle/nn/language_model.h"
#include "volvelle/nn/multi_head_attention.h"
#include "volvelle/nn/state.h"
#include "volvelle/ops/cross_entropy.h"

namespace volvelle {
namespace {

using testing::expect_gradients;
using testing::fill_parameters;
using ::testing::HasSubstr;
using testing::model_with;
using testing::position_cases;
using testing::PositionCase;
using testing::same_bits;

constexpr double kTolerance = 2e-5;
const std::int64_t kTokens[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};

// Columns [first, first + count) of row `row` of logits (B,T,V).
std::vector<float> logits_of(const Tensor& logits, std::int64_t row, std::int64_t first,
                             std::int64_t count) {
  const std::int64_t tokens = logits.shape()[1], words = logits.shape()[2];
  const float* from = logits.data<float>() + (row * tokens + first) * words;
  return {from, from + count * words};
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return worst;
}

Tensor run(const LanguageModel& model, const std::vector<std::int64_t>& ids, const Shape& shape,
           const TokenPlaces& places = {}) {
  const NoGrad no_grad;
  return model.forward(View(ids.data(), shape), {.tokens = places}).value();
}

std::vector<float> alone(const LanguageModel& model, const std::int64_t* ids, std::int64_t count) {
  const Tensor logits = run(model, {ids, ids + count}, {1, count});
  return logits_of(logits, 0, 0, count);
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ModelPositions, TheCasesCoverTheCatalog) {
  std::set<std::string> named, listed;
  for (const PositionCase& test : position_cases()) {
    for (const PositionText& text : positions_by_layer(test.text, 2)) named.insert(text.scheme);
  }
  for (const PositionEntry& entry : position_schemes()) listed.insert(entry.name);
  EXPECT_EQ(named, listed);
}

// Trap 45: a padded row equals its own run; counting from the padding shows where positions are
// absolute, and nowhere else.
TEST(ModelPositions, PaddedRowsEqualTheirOwnRuns) {
  for (const PositionCase& test : position_cases()) {
    const LanguageModel model(model_with(test.text));
    fill_parameters(model, 3);
    const std::vector<float> two = alone(model, kTokens, 2), five = alone(model, kTokens + 2, 5);
    const std::int64_t lengths[] = {2, 5};
    const View view(lengths, {2});
    const std::vector<std::int64_t> left{0, 0, 0, 3, 1, /**/ 4, 1, 5, 9, 2};
    const Tensor padded = run(model, left, {2, 5}, {.lengths = view, .padding = Padding::left});
    EXPECT_LT(distance(logits_of(padded, 0, 3, 2), two), kTolerance) << test.text;
    EXPECT_LT(distance(logits_of(padded, 1, 0, 5), five), kTolerance) << test.text;

    const std::vector<std::int64_t> right{3, 1, 0, 0, 0, /**/ 4, 1, 5, 9, 2};
    const Tensor after = run(model, right, {2, 5}, {.lengths = view});
    EXPECT_LT(distance(logits_of(after, 0, 0, 2), two), kTolerance) << test.text;
    EXPECT_LT(distance(logits_of(after, 1, 0, 5), five), kTolerance) << test.text;

    const std::int64_t counted[] = {0, 1, 2, 3, 4};
    const Tensor wrong =
        run(model, left, {2, 5},
            {.positions = View(counted, {5}), .lengths = view, .padding = Padding::left});
    const double off = distance(logits_of(wrong, 0, 3, 2), two);
    if (test.relative) {
      EXPECT_LT(off, kTolerance) << test.text;
    } else {
      EXPECT_GT(off, 1e-2) << test.text;
    }
    // Control: padding that is seen.
    const Tensor seen = run(model, left, {2, 5});
    EXPECT_GT(distance(logits_of(seen, 0, 3, 2), two), 1e-2) << test.text;
  }
}

// A scheme that ends refuses tokens beyond its end, not padding.
TEST(ModelPositions, PaddingMayStandBeyondAnEnd) {
  for (const char* text : {"xpos(scale=1)", "learned(rows=62)"}) {
    const LanguageModel model(model_with(text));
    fill_parameters(model, 3);
    std::vector<std::int64_t> words(50);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = kTokens[i % 12];
    const std::vector<float> own = alone(model, words.data(), 50);
    const std::int64_t fits[] = {50}, too_long[] = {70};
    for (const Padding padding : {Padding::left, Padding::right}) {
      std::vector<std::int64_t> row(100, 0);
      const std::int64_t first = padding == Padding::left ? 50 : 0;
      std::copy(words.begin(), words.end(), row.begin() + first);
      const Tensor padded =
          run(model, row, {1, 100}, {.lengths = View(fits, {1}), .padding = padding});
      EXPECT_LT(distance(logits_of(padded, 0, first, 50), own), kTolerance) << text;
      const std::string refused = refusal(
          [&] { run(model, row, {1, 100}, {.lengths = View(too_long, {1}), .padding = padding}); });
      EXPECT_THAT(refused, HasSubstr("position ")) << text;
      EXPECT_THAT(refusal([&] { run(model, row, {1, 100}); }), HasSubstr("position ")) << text;
    }
  }
}

// Trap 54: documents packed into one row equal their own runs, bit for bit in what they see.
TEST(ModelPositions, PackedDocumentsEqualTheirOwnRuns) {
  const std::int64_t segments[] = {4, 4, 4, 1, 1};
  for (const PositionCase& test : position_cases()) {
    const LanguageModel model(model_with(test.text));
    fill_parameters(model, 3);
    const std::vector<float> first = alone(model, kTokens, 3),
                             second = alone(model, kTokens + 3, 2);
    const Tensor positions = positions_in_segments(View(segments, {1, 5}));
    const std::vector<std::int64_t> row(kTokens, kTokens + 5);
    const TokenPlaces places{.positions = positions.view(), .segments = View(segments, {1, 5})};
    const Tensor packed = run(model, row, {1, 5}, places);
    EXPECT_LT(distance(logits_of(packed, 0, 0, 3), first), kTolerance) << test.text;
    EXPECT_LT(distance(logits_of(packed, 0, 3, 2), second), kTolerance) << test.text;

    // Another first document changes nothing in the second.
    std::vector<std::int64_t> other = row;
    other[0] = 7;
    const Tensor moved = run(model, other, {1, 5}, places);
    EXPECT_EQ(distance(logits_of(moved, 0, 3, 2), logits_of(packed, 0, 3, 2)), 0) << test.text;
    // Control: positions that start again, but no segments.
    const Tensor leaking = run(model, row, {1, 5}, {.positions = positions.view()});
    EXPECT_GT(distance(logits_of(leaking, 0, 3, 2), second), 1e-2) << test.text;
  }
}

TEST(ModelPositions, AShiftOfAllPositionsChangesAbsoluteSchemesOnly) {
  const std::int64_t shifted[] = {7, 8, 9, 10, 11, 12};
  const std::vector<std::int64_t> row(kTokens, kTokens + 6);
  for (const PositionCase& test : position_cases()) {
    const LanguageModel model(model_with(test.text));
    fill_parameters(model, 3);
    const Tensor plain = run(model, row, {1, 6});
    const Tensor moved = run(model, row, {1, 6}, {.positions = View(shifted, {1, 6})});
    const double off = distance(logits_of(plain, 0, 0, 6), logits_of(moved, 0, 0, 6));
    if (test.relative) {
      EXPECT_LT(off, kTolerance) << test.text;
    } else {
      EXPECT_GT(off, 1e-2) << test.text;
    }
  }
}

// Every scheme but "none" tells tokens apart by their order alone; "none" too, through the mask
// (no-position causal), and not without it.
TEST(ModelPositions, OrderShows) {
  const std::vector<std::int64_t> row{3, 1, 4, 1, 5}, swapped{1, 3, 4, 1, 5};
  for (const PositionCase& test : position_cases()) {
    for (const bool causal : {true, false}) {
      LanguageModelOptions options = model_with(test.text);
      options.stack.causal = causal;
      const LanguageModel model(options);
      fill_parameters(model, 3);
      const double off = distance(logits_of(run(model, row, {1, 5}), 0, 4, 1),
                                  logits_of(run(model, swapped, {1, 5}), 0, 4, 1));
      if (!causal && std::string(test.text) == "none") {
        EXPECT_LT(off, kTolerance);
      } else {
        EXPECT_GT(off, 1e-3) << test.text << " causal " << causal;
      }
    }
  }
}

// Trap 44: a layer without positions beside one with them; each layer counts.
TEST(ModelPositions, MayDifferByLayer) {
  const std::vector<std::int64_t> row(kTokens, kTokens + 8);
  const auto with = [&](const char* positions) {
    const LanguageModel model(model_with(positions));
    for (const NamedParameter& parameter : model.parameters()) {
      // The same numbers under the same name, whatever else there is.
      Variable variable = parameter.variable;
      const Tensor values = testing::normal_floats(variable.shape(), parameter.name.size());
      variable.replace(values);
    }
    return logits_of(run(model, row, {1, 8}), 0, 0, 8);
  };
  const std::vector<float> mixed = with("1: rotary(base=20) | none");
  for (const char* other :
       {"rotary(base=20)", "none", "1: none | rotary(base=20)", "1: rotary(base=20) | alibi"}) {
    EXPECT_GT(distance(mixed, with(other)), 1e-2) << other;
  }
  EXPECT_EQ(distance(mixed, with("1: rotary(base=20) | none")), 0);
}

TEST(ModelPositions, NameParametersAndShareThemAsFactsSay) {
  const auto names = [](const char* positions) {
    std::string all;
    const LanguageModel model(model_with(positions));
    for (const NamedParameter& parameter : model.parameters()) {
      if (parameter.name.find("positions") != std::string::npos) all += parameter.name + " ";
    }
    return all;
  };
  EXPECT_EQ(names("learned(rows=4)"), "positions.weight ");
  EXPECT_EQ(names("rotary"), "");
  EXPECT_EQ(names("alibi"), "");
  // T5's table is one for all layers; a clamped one is each layer's own.
  EXPECT_EQ(names("t5(buckets=8)"), "stack.layers.0.self_attn.positions.weight ");
  EXPECT_EQ(names("clamped(max=3)"),
            "stack.layers.0.self_attn.positions.weight "
            "stack.layers.1.self_attn.positions.weight ");
  const LanguageModel shared(model_with("t5(buckets=8)"));
  std::string tied;
  for (const TiedName& name : shared.tied_names()) tied += name.name + " = " + name.of + "; ";
  EXPECT_THAT(tied, HasSubstr("stack.layers.1.self_attn.positions.weight = "
                              "stack.layers.0.self_attn.positions.weight"));
  EXPECT_EQ(shared.stack().positions(0), shared.stack().positions(1));
  EXPECT_EQ(LanguageModel(model_with("none")).stack().positions(0), nullptr);
  EXPECT_THROW(shared.stack().positions(2), InvalidArgument);
}

TEST(ModelPositions, AreDrawnOnceAndSavedWithTheModel) {
  for (const char* positions :
       {"t5(buckets=8)", "clamped(max=3)", "learned(rows=12)", "alibi(learned=yes)"}) {
    LanguageModel model(model_with(positions)), again(model_with(positions));
    model.initialize(*make_initializer({.seed = 3}));
    again.initialize(*make_initializer({.seed = 3}));
    const std::vector<NamedParameter> a = model.parameters(), b = again.parameters();
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_TRUE(same_bits(a[i].variable.value(), b[i].variable.value())) << a[i].name;
      if (a[i].name.find("positions") == std::string::npos) continue;
      bool drawn = false;
      for (std::int64_t e = 0; e < a[i].variable.size(); ++e) {
        drawn = drawn || a[i].variable.value().data<float>()[e] != 0;
      }
      EXPECT_TRUE(drawn) << positions;
    }
    fill_parameters(model, 5);
    load_state(again, state_of(model));
    const std::vector<std::int64_t> row(kTokens, kTokens + 6);
    EXPECT_TRUE(same_bits(run(model, row, {1, 6}), run(again, row, {1, 6}))) << positions;
  }
}

TEST(ModelPositions, GradientsAreThoseOfDifferences) {
  const std::int64_t lengths[] = {2, 3};
  for (const PositionCase& test : position_cases()) {
    if (std::string(test.text).find('|') != std::string::npos) continue;  // each is here by itself
    LanguageModelOptions options = model_with(test.text, 1);
    options.vocabulary = 4;
    options.stack.width = 6;
    options.stack.head_width = 8;
    options.stack.feed_forward = 3;
    options.stack.dtype = DType::float64;
    const LanguageModel model(options);
    fill_parameters(model, 2);
    std::vector<Variable> leaves;
    for (const NamedParameter& parameter : model.parameters()) {
      // Of a large table only a few rows are reached.
      if (parameter.variable.size() <= 8 * 64) leaves.push_back(parameter.variable);
    }
    const std::int64_t ids[] = {3, 1, 0, 3, 2, 1};
    const std::int64_t targets[] = {-100, 1, 0, 3, 2, 0};
    expect_gradients(
        [&] {
          return cross_entropy(
              model.forward(View(ids, {2, 3}),
                            {.tokens = {.lengths = View(lengths, {2}), .padding = Padding::left}}),
              View(targets, {2, 3}));
        },
        leaves);
  }
}

TEST(ModelPositions, RecomputationAndThreadsChangeNoBit) {
  const std::int64_t lengths[] = {7, 12};
  const std::vector<std::int64_t> ids = [] {
    std::vector<std::int64_t> all(kTokens, kTokens + 12);
    all.insert(all.end(), kTokens, kTokens + 12);
    return all;
  }();
  for (const PositionCase& test : position_cases()) {
    const auto gradients = [&](bool recompute, int threads, DType compute) {
      LanguageModelOptions options = model_with(test.text);
      options.stack.recompute = recompute;
      const LanguageModel model(options);
      fill_parameters(model, 2);
      const Variable logits =
          model.forward(View(ids.data(), {2, 12}),
                        {.compute = compute,
                         .threads = threads,
                         .tokens = {.lengths = View(lengths, {2}), .padding = Padding::left}});
      backward(logits, Tensor(logits.value()).view());
      std::vector<Tensor> all{logits.value()};
      for (const NamedParameter& parameter : model.parameters()) {
        if (parameter.variable.grad()) all.push_back(parameter.variable.grad());
      }
      return all;
    };
    for (const DType compute : {DType::float32, DType::bfloat16}) {
      const std::vector<Tensor> one = gradients(false, 1, compute);
      testing::expect_same_bits(one, gradients(true, 1, compute), test.text);
      testing::expect_same_bits(one, gradients(false, 4, compute), test.text);
    }
  }
}

TEST(ModelPositions, EmptyRowsAndBatchesPassThrough) {
  const std::int64_t lengths[] = {0, 3};
  for (const PositionCase& test : position_cases()) {
    const LanguageModel model(model_with(test.text));
    fill_parameters(model, 3);
    EXPECT_EQ(run(model, {0}, {2, 0}).shape(), (Shape{2, 0, 11})) << test.text;
    EXPECT_EQ(run(model, {0}, {0, 4}).shape(), (Shape{0, 4, 11})) << test.text;
    const Tensor half = run(model, {0, 0, 0, 3, 1, 4}, {2, 3},
                            {.lengths = View(lengths, {2}), .padding = Padding::left});
    EXPECT_LT(distance(logits_of(half, 1, 0, 3), alone(model, kTokens, 3)), kTolerance)
        << test.text;
    for (const float logit : logits_of(half, 0, 0, 3)) EXPECT_TRUE(std::isfinite(logit));
  }
}

TEST(ModelPositions, ScaleTheEmbedding) {
  LanguageModelOptions options = model_with("sinusoidal");
  const LanguageModel plain(options);
  options.scale_embedding = true;
  options.tied = false;
  const LanguageModel scaled(options);
  options.scale_embedding = false;
  const LanguageModel larger(options);
  fill_parameters(scaled, 4);
  fill_parameters(larger, 4);
  Variable table = larger.parameters().front().variable;
  const MutableView view = table.change();
  for (std::int64_t i = 0; i < table.size(); ++i) static_cast<float*>(view.data())[i] *= 4;
  const std::vector<std::int64_t> row(kTokens, kTokens + 6);
  EXPECT_TRUE(same_bits(run(scaled, row, {1, 6}), run(larger, row, {1, 6})));
}

TEST(ModelPositions, AreRefusedWhereTheyDoNotBelong) {
  const auto made = [](const char* positions, const char* stack = "none") {
    return refusal([&] {
      LanguageModelOptions options = model_with(positions);
      options.stack.positions = stack;
      LanguageModel{options};
    });
  };
  EXPECT_EQ(made("sinusoidal", "rotary"), "accepted");
  EXPECT_EQ(made("none", "1: rotary | alibi"), "accepted");
  EXPECT_THAT(made("rotary", "alibi"), HasSubstr("both tell attention where tokens stand"));
  EXPECT_THAT(made("none", "sinusoidal"), HasSubstr("[stack] positions 'sinusoidal"));
  EXPECT_THAT(made("1: sinusoidal | rotary"), HasSubstr("it cannot differ by layer"));
  EXPECT_THAT(made("rotory"), HasSubstr("rotary"));
  LanguageModelOptions odd = model_with("rotary");
  odd.stack.width = 10;
  EXPECT_NE(refusal([&] { LanguageModel{odd}; }), "accepted");  // heads of 5 columns

  const std::shared_ptr<PositionScheme> table = make_positions("learned(rows=4)", {});
  EXPECT_THAT(refusal([&] { MultiHeadAttention({.positions = table}); }),
              HasSubstr("added to the token vectors"));
  StackOptions block = model_with("none").stack;
  block.positions = "rotary";
  EXPECT_THAT(refusal([&] { Block(block, parse_placement("pre")); }),
              HasSubstr("give the block its scheme"));

  const LanguageModel model(model_with("rotary"));
  const std::vector<std::int64_t> row(kTokens, kTokens + 3);
  const std::int64_t negative[] = {0, 1, -1}, ids[] = {0, 0, 1};
  const double broken[] = {0, 1, 2};
  const auto placed = [&](const TokenPlaces& places) {
    return refusal([&] { run(model, row, {1, 3}, places); });
  };
  EXPECT_THAT(placed({.positions = View(negative, {3})}), HasSubstr("-1 at index 2"));
  EXPECT_THAT(placed({.positions = View(broken, {3})}), HasSubstr("must be integers"));
  EXPECT_THAT(placed({.segments = View(ids, {3})}), HasSubstr("without positions"));
}

TEST(ModelPositions, OfAMemoryAreTheCallers) {
  const MultiHeadAttention attention(
      {.width = 8, .heads = 2, .positions = make_positions("rotary", {.width = 8, .heads = 2})});
  fill_parameters(attention, 2);
  const Variable x(testing::normal_floats({1, 3, 8}, 1)),
      memory(testing::normal_floats({1, 4, 8}, 2));
  EXPECT_THAT(refusal([&] { attention.forward(x, {}, {.memory = memory}); }),
              HasSubstr("query_positions and key_positions among the call's rules"));
  const std::int64_t asked[] = {9, 10, 11}, keys[] = {2, 3, 4, 5}, later[] = {4, 5, 6, 7};
  const auto with = [&](const std::int64_t* of_keys) {
    AttentionProblem rules;
    rules.query_positions = View(asked, {3});
    rules.key_positions = View(of_keys, {4});
    return attention.forward(x, {}, {.memory = memory, .rules = rules}).value();
  };
  EXPECT_FALSE(same_bits(with(keys), with(later)));
  AttentionProblem twice;
  twice.query_positions = View(asked, {3});
  twice.key_positions = View(asked, {3});
  EXPECT_THAT(refusal([&] {
                attention.forward(x, {.tokens = {.positions = View(asked, {3})}}, {.rules = twice});
              }),
              HasSubstr("given twice"));
  const std::int64_t segments[] = {0, 0, 1};
  EXPECT_THAT(refusal([&] {
                attention.forward(
                    x, {.tokens = {.positions = View(asked, {3}), .segments = View(segments, {3})}},
                    {.memory = memory});
              }),
              HasSubstr("not which of a memory"));
}

}  // namespace
}  // namespace volvelle
