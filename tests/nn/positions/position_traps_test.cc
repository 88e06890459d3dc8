// Faults of positions that were seen in other systems, each with its right value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "check/positions/subject.h"
#include "check/properties/setting.h"
#include "tensor/slice.h"
#include "volvelle/attention/alibi.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle {
namespace {

using positions::counted;
using positions::distance;
using positions::SchemeModels;
using ::testing::HasSubstr;

Tensor random_ids(std::int64_t batch, std::int64_t tokens, std::uint64_t seed) {
  RandomNumbers numbers(seed);
  Tensor ids(DType::int64, Shape{batch, tokens});
  for (std::int64_t i = 0; i < ids.size(); ++i) {
    ids.data<std::int64_t>()[i] = numbers.below(positions::kVocabulary);
  }
  return ids;
}

Tensor logits_of(const LanguageModel& model, const View& ids, const TokenPlaces& places = {}) {
  ForwardOptions how;
  how.tokens = places;
  const NoGrad no_grad;
  return model.forward(ids, how).value();
}

Tensor list_of(const std::vector<std::int64_t>& numbers) {
  Tensor list(DType::int64, Shape{static_cast<std::int64_t>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), list.data<std::int64_t>());
  return list;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const InvalidArgument& thrown) {
    return thrown.what();
  }
  return "no throw";
}

// Read but not applied: short texts do not show it.
TEST(PositionTraps, Llama3ScalingIsInTheTableAtPosition20000) {
  const auto scheme =
      make_positions("rotary(base=500000, scaling=llama3, factor=8, low=1, high=4, original=8192)",
                     {.width = 128, .heads = 1});
  AttendVariableOptions attention;
  scheme->enter(attention, {.positions = 20001});
  const auto at = [&](std::int64_t pair, double change) {
    const double frequency = std::pow(500000.0, -2.0 * static_cast<double>(pair) / 128);
    const double angle = 20000 * frequency * change;
    EXPECT_NEAR(element_as_double(attention.rotary.cosines.view(), 20000 * 64 + pair),
                std::cos(angle), 1e-6);
    EXPECT_NEAR(element_as_double(attention.rotary.sines.view(), 20000 * 64 + pair),
                std::sin(angle), 1e-6);
    return std::fabs(std::cos(angle) - std::cos(20000 * frequency));
  };
  EXPECT_EQ(at(28, 1), 0);
  EXPECT_GT(at(40, 0.125), 0.01);  // as if it were not applied
  EXPECT_THAT(refusal([] { make_positions("rotary(scaling=lama3, factor=8)", PositionContext{}); }),
              HasSubstr("llama3"));
}

// An enlarged base must not stay behind for the next text.
TEST(PositionTraps, EqualPromptsGiveEqualBitsWhateverCameBetween) {
  for (const char* scheme : {"rotary(scaling=dynamic, factor=4, original=8)",
                             "rotary(scaling=longrope, original=8, max=64, short=[1, 1, 1, 1], "
                             "long=[2, 3, 4, 5])"}) {
    SchemeModels models(scheme, 1);
    const LanguageModel& model = models.model({});
    const Tensor prompt = random_ids(1, 5, 1), text = random_ids(1, 40, 2);
    const Tensor before = logits_of(model, prompt.view());
    const Tensor between = logits_of(model, text.view());
    EXPECT_TRUE(same_bits(logits_of(model, prompt.view()), before)) << scheme;
    // The control: the longer text does have other angles for its first tokens.
    EXPECT_GT(distance(slice(between.view(), 1, 0, 5),
                       logits_of(model, copy_of(slice(text.view(), 1, 0, 5)).view()).view()),
              1e-3);
  }
}

// A table kept by the length of the text gave the first one again.
TEST(PositionTraps, TheSameLengthElsewhereIsNotTheSameTable) {
  for (const std::string& scheme : position_settings()) {
    if (scheme == "none") continue;
    SchemeModels models(scheme, 1);
    const LanguageModel& model = models.model({});
    const Tensor ids = list_of({4, 11, 17}).reshaped({1, 3});
    const Tensor near = list_of({0, 1, 2}), far = list_of({0, 1, 7});
    const Tensor first = logits_of(model, ids.view(), {.positions = near.view()});
    const Tensor second = logits_of(model, ids.view(), {.positions = far.view()});
    EXPECT_GT(distance(second.view(), first.view()), 1e-3) << scheme;
    EXPECT_TRUE(same_bits(logits_of(model, ids.view(), {.positions = near.view()}), first))
        << scheme;
  }
}

TEST(PositionTraps, TwentyTokensAtOnceThenOneByOne) {
  for (const std::string& scheme : position_settings()) {
    SchemeModels models(scheme, 1);
    const LanguageModel& model = models.model({});
    const Tensor ids = random_ids(1, 24, 4);
    const Tensor whole = logits_of(model, ids.view());
    ModelCache cache(model, {.capacity = 256});
    const Sequence sequence[] = {cache.add()};
    model.extend(copy_of(slice(ids.view(), 1, 0, 20)).view(), cache, sequence);
    for (std::int64_t t = 20; t < 24; ++t) {
      const std::int64_t next[] = {ids.data<std::int64_t>()[t]};
      const Tensor step = model.step(View(next, {1}), cache, sequence);
      EXPECT_LT(
          distance(
              step.view(),
              copy_of(slice(whole.view(), 1, t, 1)).reshaped({1, positions::kVocabulary}).view()),
          1e-5)
          << scheme;
    }
  }
}

// A bias kept for one shape was wrong for the next.
TEST(PositionTraps, AlibiOfOneLengthAfterAnother) {
  const std::vector<double> slopes = alibi_slopes(2);
  for (const std::int64_t keys : {512, 513, 511}) {
    RandomNumbers draws(7);
    properties::Setting setting = properties::random_setting(
        {.key_heads = 2, .queries = keys, .keys = keys, .width = 8, .value_width = 8}, draws);
    AttentionProblem& p = setting.problem;
    p.slopes = View(slopes.data(), {2});
    p.causal = true;
    const Tensor whole = attend(p).output;
    AttentionProblem last = p;
    last.q = slice(p.q, 2, keys - 1, 1);
    EXPECT_LT(distance(attend(last).output.view(), slice(whole.view(), 2, keys - 1, 1)), 1e-5);
    EXPECT_LT(
        distance(whole.view(),
                 attend(p, AttentionRequest{}, {.path = AttentionPath::oracle}).output.view()),
        1e-5);
  }
}

// (B,T,H,D) memory taken for (B,H,T,D) turns by the head.
TEST(PositionTraps, RowsTurnByTheirTokenNotByTheirHead) {
  constexpr std::int64_t kTokens = 3, kHeads = 2, kWidth = 4;
  RandomNumbers draws(8);
  const Tensor memory = properties::filled(DType::float32, {1, kTokens, kHeads, kWidth},
                                           [&] { return draws.normal(); });
  const auto scheme = make_positions("rotary", {.width = kHeads * kWidth, .heads = kHeads});
  AttendVariableOptions made;
  scheme->enter(made, {.positions = kTokens});
  const RotaryTurn turn{.cosines = made.rotary.cosines.view(), .sines = made.rotary.sines.view()};
  const View by_strides(memory.raw(), DType::float32, {1, kHeads, kTokens, kWidth},
                        {kTokens * kHeads * kWidth, kWidth, kHeads * kWidth, 1});
  const Tensor packed = copy_of(by_strides);
  const auto output = [&](const View& rows, const View& values) {
    return attend({.q = rows, .k = rows, .v = values, .rotary = turn}).output;
  };
  EXPECT_TRUE(same_bits(output(by_strides, by_strides), output(packed.view(), packed.view())));
  // Queries and keys turned by another axis, their numbers the same.
  const Tensor swapped = output(memory.view(), memory.view());
  const View back(swapped.raw(), DType::float32, {1, kHeads, kTokens, kWidth},
                  {kTokens * kHeads * kWidth, kWidth, kHeads * kWidth, 1});
  EXPECT_GT(distance(back, output(packed.view(), packed.view()).view()), 1e-2);
}

// Layers without positions do not show a pairing that was swapped: parity is asked layer by layer.
TEST(PositionTraps, AWrongPairingShowsInTheLayerThatTurns) {
  SchemeModels models("none | rotary", 1);
  const LanguageModel& model = models.model({});
  const auto twin = positions::twin_of(model, "none | rotary(pairing=interleaved)", true);
  const Tensor ids = random_ids(1, 9, 5);
  const NoGrad no_grad;
  StackTrace right, wrong;
  model.forward(ids.view(), {}, &right);
  twin->forward(ids.view(), {}, &wrong);
  EXPECT_TRUE(same_bits(right.inputs[1].value(), wrong.inputs[1].value()));
  EXPECT_GT(distance(wrong.inputs[2].view(), right.inputs[2].view()), 1e-2);
}

// W counts the query itself, for a prompt and for steps alike, and goes by the turn's positions in
// no way.
TEST(PositionTraps, AWindowOfFourIsFourKeysUnderTurnsToo) {
  const auto scheme = make_positions("rotary", {.width = 8, .heads = 1});
  AttendVariableOptions made;
  scheme->enter(made, {.positions = 11});
  RandomNumbers draws(9);
  const properties::Setting setting =
      properties::random_setting({.queries = 11, .keys = 11, .width = 8, .value_width = 8}, draws);
  AttentionProblem p = setting.problem;
  p.rotary = {.cosines = made.rotary.cosines.view(), .sines = made.rotary.sines.view()};
  p.causal = true;
  p.window = 4;
  const Tensor whole = attend(p).output;
  const auto step = [&](std::int64_t at, std::int64_t first) {
    // Query `at` over keys [first, at], each where it stood.
    const Tensor place = list_of({at}), places = counted(1, at + 1 - first, first);
    AttentionProblem one = p;
    one.window = 0;
    one.q = slice(p.q, 2, at, 1);
    one.k = slice(p.k, 2, first, at + 1 - first);
    one.v = slice(p.v, 2, first, at + 1 - first);
    one.query_positions = place.view();
    one.key_positions = places.view();
    return distance(attend(one).output.view(), slice(whole.view(), 2, at, 1));
  };
  for (const std::int64_t at : {2, 3, 4, 5, 10}) {
    EXPECT_LT(step(at, std::max<std::int64_t>(0, at - 3)), 1e-5) << at;
  }
  EXPECT_GT(step(10, 6), 1e-3);  // five keys
}

// RoBERTa's positions begin behind the padding id: of 514 rows 512 are of use.
TEST(PositionTraps, PositionsThatBeginBehindThePaddingId) {
  const auto scheme = make_positions("learned(rows=514)", {.width = 4, .heads = 1});
  const Tensor given = list_of({2, 3, 4, 1, 1});
  EXPECT_NO_THROW(
      scheme->add_to_tokens(Variable(Tensor::zeros(DType::float32, {1, 5, 4})), given.view()));
  const auto tokens = [&](std::int64_t count) {
    const Tensor places = counted(1, count, 2);
    return refusal([&] {
      scheme->add_to_tokens(Variable(Tensor::zeros(DType::float32, {1, count, 4})), places.view());
    });
  };
  EXPECT_EQ(tokens(512), "no throw");
  EXPECT_THAT(tokens(513), HasSubstr("514"));
}

TEST(PositionTraps, GeneratingPastALearnedTableStopsBeforeIt) {
  SchemeModels models("learned(rows=8)", 1);
  const LanguageModel& model = models.model({});
  ModelCache cache(model, {.capacity = 64});
  const Sequence sequence[] = {cache.add()};
  const Tensor prompt = random_ids(1, 6, 6), more = random_ids(1, 4, 7);
  model.extend(prompt.view(), cache, sequence);
  EXPECT_THAT(refusal([&] { model.extend(more.view(), cache, sequence); }),
              HasSubstr("2 more fit, not 4"));
  EXPECT_EQ(cache.length(sequence[0]), 6);
  model.extend(copy_of(slice(more.view(), 1, 0, 2)).view(), cache, sequence);
  EXPECT_EQ(cache.length(sequence[0]), 8);
}

// Positions that start again are not enough: documents 3 and 2 tokens long in one row.
TEST(PositionTraps, ADocumentDoesNotSeeTheOneBeforeIt) {
  for (const std::string& scheme : position_settings()) {
    SchemeModels models(scheme, 1);
    const LanguageModel& model = models.model({});
    const Tensor segments = list_of({4, 4, 4, 9, 9});
    const Tensor places = positions_in_segments(segments.view());
    Tensor ids = random_ids(1, 5, 8);
    const auto second = [&](bool parted) {
      const Tensor logits =
          logits_of(model, ids.view(),
                    {.positions = places.view(), .segments = parted ? segments.view() : View()});
      return copy_of(slice(logits.view(), 1, 3, 2));
    };
    const Tensor before = second(true), seen_before = second(false);
    ids.data<std::int64_t>()[0] = (ids.data<std::int64_t>()[0] + 1) % positions::kVocabulary;
    EXPECT_TRUE(same_bits(second(true), before)) << scheme;
    EXPECT_GT(distance(second(false).view(), seen_before.view()), 1e-4) << scheme;
  }
}

}  // namespace
}  // namespace volvelle
