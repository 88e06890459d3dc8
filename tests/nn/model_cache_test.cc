// Reading on from a cache gives what a full pass gives, for every position scheme, however the
// tokens came in.
#include "volvelle/nn/model_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "nn/cache_step.h"
#include "support/instruction_sets.h"
#include "support/plain_block.h"
#include "support/position_texts.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/error.h"
#include "volvelle/nn/language_model.h"

namespace volvelle {
namespace {

using testing::fill_parameters;
using ::testing::HasSubstr;
using testing::model_with;
using testing::position_cases;
using testing::PositionCase;

using Ids = std::vector<std::int64_t>;
using Logits = std::vector<float>;

constexpr double kTolerance = 2e-5;

// Twenty words, more than a short walk takes at once.
Ids text_of(std::int64_t count, std::uint64_t from = 0) {
  Ids ids;
  for (std::int64_t i = 0; i < count; ++i) {
    ids.push_back((7 * i * i + 3 * i + static_cast<std::int64_t>(from)) % 11);
  }
  return ids;
}

Logits numbers(const Tensor& logits) {
  return {logits.data<float>(), logits.data<float>() + logits.size()};
}

Logits full(const LanguageModel& model, const Ids& ids, const TokenPlaces& places = {}) {
  const NoGrad no_grad;
  return numbers(
      model
          .forward(View(ids.data(), {1, static_cast<std::int64_t>(ids.size())}), {.tokens = places})
          .value());
}

double distance(const Logits& a, const Logits& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return worst;
}

// Logits of every token of one sequence, read in chunks.
Logits read(const LanguageModel& model, ModelCache& cache, Sequence sequence, const Ids& ids,
            std::int64_t chunk) {
  return numbers(model.extend(View(ids.data(), {static_cast<std::int64_t>(ids.size())}), cache,
                              {&sequence, 1}, {.chunk = chunk, .every_token = true}));
}

Logits tail(const Logits& logits, std::int64_t tokens) {
  return {logits.end() - 11 * tokens, logits.end()};
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

using ModelCacheOnEverySet = testing::OnEveryInstructionSet;
VOLVELLE_ON_EVERY_INSTRUCTION_SET(Sets, ModelCacheOnEverySet);

TEST_P(ModelCacheOnEverySet, ChunksAndStepsGiveTheFullPass) {
  const Ids ids = text_of(20);
  for (const PositionCase& test : position_cases()) {
    const LanguageModel model(model_with(test.text));
    fill_parameters(model, 3);
    const Logits whole = full(model, ids);
    Logits steps;
    for (const std::int64_t chunk : {1, 3, 7, 0}) {
      ModelCache cache(model, {.capacity = 512});
      const Sequence sequence = cache.add();
      const Logits read_in = read(model, cache, sequence, ids, chunk);
      EXPECT_LT(distance(read_in, whole), kTolerance) << test.text << " chunk " << chunk;
      EXPECT_EQ(cache.length(sequence), 20);
      if (chunk == 1) steps = read_in;
      // Up to 16 tokens at once take the same walk.
      // All at once takes the walk of the full pass.
      EXPECT_EQ(read_in, chunk == 0 ? whole : steps) << test.text << " chunk " << chunk;
    }
    // Control: positions that start at 0 with each chunk.
    if (std::string(test.text) == "none") continue;
    Ids restarted;
    for (int i = 0; i < 20; ++i) restarted.push_back(i % 7);
    const Logits wrong = full(model, ids, {.positions = View(restarted.data(), {20})});
    EXPECT_GT(distance(tail(wrong, 1), tail(whole, 1)), 100 * kTolerance) << test.text;
  }
}

TEST(ModelCache, SequencesOfDifferentLengthsKeepTheirOwnBits) {
  for (const PositionCase& test : position_cases()) {
    const LanguageModel model(model_with(test.text));
    fill_parameters(model, 3);
    const Ids a = text_of(5, 1), b = text_of(20, 2), c = text_of(9, 3);
    Ids rows;
    for (const Ids* row : {&a, &b, &c}) {
      rows.insert(rows.end(), 20 - row->size(), -1);  // padding is not looked at
      rows.insert(rows.end(), row->begin(), row->end());
    }
    const std::int64_t lengths[] = {5, 20, 9};
    for (const std::int64_t chunk : {1, 3, 7, 0}) {
      ModelCache cache(model, {.capacity = 512});
      const Sequence sequences[] = {cache.add(), cache.add(), cache.add()};
      const Tensor together = model.extend(View(rows.data(), {3, 20}), cache, sequences,
                                           {.chunk = chunk, .lengths = View(lengths, {3})});
      const std::int64_t next[] = {4, 0, 10};
      const Tensor stepped = model.step(View(next, {3}), cache, sequences);
      int row = 0;
      for (const Ids* ids : {&a, &b, &c}) {
        EXPECT_EQ(cache.length(sequences[row]), lengths[row] + 1);
        const Logits last = tail(full(model, *ids), 1);
        const auto of_row = [&](const Tensor& logits) {
          const float* from = logits.data<float>() + 11 * row;
          return Logits(from, from + 11);
        };
        EXPECT_LT(distance(of_row(together), last), kTolerance) << test.text << " " << chunk;
        Ids longer = *ids;
        longer.push_back(next[row]);
        EXPECT_LT(distance(of_row(stepped), tail(full(model, longer), 1)), kTolerance)
            << test.text << " " << chunk;

        // What stands beside a row changes none of its bits.
        ModelCache own(model, {.capacity = 512});
        const Sequence alone = own.add();
        const Logits single = read(model, own, alone, *ids, chunk);
        EXPECT_EQ(tail(single, 1), of_row(together)) << test.text;
        EXPECT_EQ(numbers(model.step(View(next + row, {1}), own, {&alone, 1})), of_row(stepped))
            << test.text;
        ++row;
      }
    }
  }
}

// Passes of more than 16 tokens walk differently than shorter ones, so a row must be cut where it
// would be cut alone: not where the padding before it puts the cuts.
TEST(ModelCache, LongRowsKeepTheirOwnBits) {
  const Ids a = text_of(20, 1), b = text_of(30, 2);
  Ids rows(10, -1);
  rows.insert(rows.end(), a.begin(), a.end());
  rows.insert(rows.end(), b.begin(), b.end());
  const std::int64_t lengths[] = {20, 30};
  for (const PositionCase& test : position_cases()) {
    const LanguageModel model(model_with(test.text));
    fill_parameters(model, 3);
    for (const std::int64_t chunk : {7, 18, 24, 30, 0}) {
      const auto together = [&](bool every_token) {
        ModelCache cache(model, {.capacity = 512});
        const Sequence sequences[] = {cache.add(), cache.add()};
        return numbers(model.extend(
            View(rows.data(), {2, 30}), cache, sequences,
            {.chunk = chunk, .lengths = View(lengths, {2}), .every_token = every_token}));
      };
      ModelCache own(model, {.capacity = 512});
      const Logits of_a = read(model, own, own.add(), a, chunk);
      const Logits of_b = read(model, own, own.add(), b, chunk);
      Logits expected(10 * 11, 0.0F);
      expected.insert(expected.end(), of_a.begin(), of_a.end());
      expected.insert(expected.end(), of_b.begin(), of_b.end());
      EXPECT_EQ(together(true), expected) << test.text << " chunk " << chunk;
      Logits last = tail(of_a, 1);
      const Logits last_of_b = tail(of_b, 1);
      last.insert(last.end(), last_of_b.begin(), last_of_b.end());
      EXPECT_EQ(together(false), last) << test.text << " chunk " << chunk;
    }
  }
}

// Trap 37. Beyond the trained length every turn changes with the length: keys lie in the cache as
// they were projected, and what is read is what the tokens so far give.
TEST(ModelCache, KeysOfDynamicTurnsAreTurnedAnew) {
  const char* const kTexts[] = {
      "rotary(base=20, scaling=dynamic, factor=4, original=8)",
      "rotary(base=20, scaling=longrope, original=8, max=32, short=[1 1 1 1], long=[1 2 3 4])"};
  const Ids ids = text_of(20);
  for (const char* text : kTexts) {
    const LanguageModel model(model_with(text, 1));
    fill_parameters(model, 3);
    ModelCache cache(model, {.capacity = 512});
    const Sequence sequence = cache.add();
    for (std::int64_t t = 0; t < 20; ++t) {
      const std::int64_t next[] = {ids[static_cast<std::size_t>(t)]};
      const Logits step = numbers(model.step(View(next, {1}), cache, {&sequence, 1}));
      const Ids so_far(ids.begin(), ids.begin() + t + 1);
      EXPECT_LT(distance(step, tail(full(model, so_far), 1)), kTolerance) << text << " " << t;
    }
    // Sequences beside it, long and short, do not touch each other.
    const Sequence other = cache.add();
    const Sequence both[] = {sequence, other};
    const Ids rows{0, 0, 0, 3, /**/ 5, 6, 7, 8};
    const std::int64_t lengths[] = {1, 4};
    const Tensor together =
        model.extend(View(rows.data(), {2, 4}), cache, both, {.lengths = View(lengths, {2})});
    EXPECT_LT(distance(tail(numbers(together), 1), tail(full(model, {5, 6, 7, 8}), 1)), kTolerance);
    Ids longer = ids;
    longer.push_back(3);
    EXPECT_LT(distance(tail(full(model, longer), 1),
                       Logits(together.data<float>(), together.data<float>() + 11)),
              kTolerance);

    // In a deeper model earlier tokens keep what they were when they were read: as stated, steps
    // agree with a full pass up to the trained length, and beyond they do not.
    const LanguageModel deep(model_with(text, 2));
    fill_parameters(deep, 3);
    ModelCache of_deep(deep, {.capacity = 512});
    const Sequence own = of_deep.add();
    const Logits steps = read(deep, of_deep, own, ids, 1), whole = full(deep, ids);
    EXPECT_GT(distance(tail(steps, 1), tail(whole, 1)), 100 * kTolerance) << text;
    const Logits short_whole = full(deep, Ids(ids.begin(), ids.begin() + 8));
    EXPECT_LT(distance(Logits(steps.begin(), steps.begin() + 88), short_whole), kTolerance) << text;
  }
}

TEST(ModelCache, LogitsOfEveryTokenAreZeroAtPadding) {
  const LanguageModel model(model_with("learned(rows=64)"));
  fill_parameters(model, 3);
  ModelCache cache(model, {.capacity = 512});
  const Sequence sequences[] = {cache.add(), cache.add()};
  const Ids rows{0, 0, 3, 4, /**/ 5, 6, 7, 8};
  const std::int64_t lengths[] = {2, 4};
  const Logits all =
      numbers(model.extend(View(rows.data(), {2, 4}), cache, sequences,
                           {.chunk = 3, .lengths = View(lengths, {2}), .every_token = true}));
  EXPECT_EQ(Logits(all.begin(), all.begin() + 22), Logits(22, 0.0F));
  EXPECT_LT(distance(Logits(all.begin() + 22, all.begin() + 44), full(model, {3, 4})), kTolerance);
  EXPECT_LT(distance(tail(all, 4), full(model, {5, 6, 7, 8})), kTolerance);
}

TEST(ModelCache, ForksAndTruncatedSequencesReadOn) {
  for (const PositionCase& test : position_cases()) {
    const LanguageModel model(model_with(test.text));
    fill_parameters(model, 3);
    ModelCache cache(model, {.capacity = 512});
    const Ids prompt = text_of(18), one = text_of(4, 5), two = text_of(6, 8);
    const Sequence first = cache.add();
    read(model, cache, first, prompt, 7);
    const Sequence second = cache.fork(first);
    const Logits of_one = read(model, cache, first, one, 3);
    const Logits of_two = read(model, cache, second, two, 3);
    const auto after = [&](Ids ids, const Ids& more) {
      ids.insert(ids.end(), more.begin(), more.end());
      return tail(full(model, ids), static_cast<std::int64_t>(more.size()));
    };
    EXPECT_LT(distance(of_one, after(prompt, one)), kTolerance) << test.text;
    EXPECT_LT(distance(of_two, after(prompt, two)), kTolerance) << test.text;

    cache.truncate(first, 11);
    EXPECT_EQ(cache.length(first), 11);
    const Ids start(prompt.begin(), prompt.begin() + 11);
    EXPECT_LT(distance(read(model, cache, first, two, 1), after(start, two)), kTolerance)
        << test.text;
    EXPECT_LT(distance(read(model, cache, second, {4}, 1),
                       [&] {
                         Ids ids = prompt;
                         ids.insert(ids.end(), two.begin(), two.end());
                         return after(ids, {4});
                       }()),
              kTolerance)
        << test.text;
  }
}

TEST(ModelCache, HalfPrecisionStaysNear) {
  const Ids ids = text_of(20);
  for (const PositionCase& test : position_cases()) {
    const LanguageModel model(model_with(test.text));
    fill_parameters(model, 3);
    const Logits whole = full(model, ids);
    double largest = 0;
    for (const float logit : whole)
      largest = std::max(largest, std::abs(static_cast<double>(logit)));
    for (const DType stored : {DType::float32, DType::bfloat16, DType::float16}) {
      for (const DType compute : {DType::float32, DType::bfloat16}) {
        ModelCache cache(model, {.capacity = 512, .dtype = stored});
        const Sequence sequence = cache.add();
        const Logits near =
            numbers(model.extend(View(ids.data(), {1, 20}), cache, {&sequence, 1},
                                 {.chunk = 7, .every_token = true}, {.compute = compute}));
        const bool exact = stored == DType::float32 && compute == DType::float32;
        EXPECT_LT(distance(near, whole), exact ? kTolerance : 0.05 * largest) << test.text;
        if (exact) continue;
        EXPECT_NE(near, whole) << test.text;
      }
    }
  }
}

TEST(ModelCache, ThreadsChangeNoBit) {
  for (const PositionCase& test : position_cases()) {
    const LanguageModel model(model_with(test.text));
    fill_parameters(model, 3);
    const Ids ids = text_of(40);
    const auto with = [&](int threads) {
      ModelCache cache(model, {.capacity = 512});
      const Sequence sequences[] = {cache.add(), cache.add()};
      const std::int64_t lengths[] = {13, 20};
      Logits all =
          numbers(model.extend(View(ids.data(), {2, 20}), cache, sequences,
                               {.chunk = 17, .lengths = View(lengths, {2})}, {.threads = threads}));
      const Logits next =
          numbers(model.step(View(ids.data(), {2}), cache, sequences, {.threads = threads}));
      all.insert(all.end(), next.begin(), next.end());
      return all;
    };
    EXPECT_EQ(with(1), with(4)) << test.text;
  }
}

// Whatever goes wrong, and wherever: every cache is as it was.
TEST(ModelCache, AnErrorChangesNothing) {
  const LanguageModel model(model_with("learned(rows=24)"));
  fill_parameters(model, 3);
  ModelCache cache(model, {.capacity = 64});
  const Sequence sequence = cache.add();
  const Ids prompt = text_of(20);
  read(model, cache, sequence, prompt, 7);
  const std::int64_t pages = cache.usage().pages;
  const auto fails = [&](const std::function<void()>& action, const std::string& words) {
    EXPECT_THAT(refusal(action), HasSubstr(words));
    EXPECT_EQ(cache.length(sequence), 20);
    EXPECT_EQ(cache.usage().pages, pages);
  };
  const Ids five = text_of(5);
  fails([&] { read(model, cache, sequence, five, 2); },
        "the model has 24 positions; sequence 0 holds 20 tokens, so 4 more fit, not 5");
  fails([&] { read(model, cache, sequence, {1, 2, 99}, 1); },
        "id 99 of token 2 of row 0 is outside [0, 11), the model's vocabulary");
  fails([&] { read(model, cache, sequence, {1, -1}, 1); }, "id -1 of token 1");

  const LanguageModel endless(model_with("t5(buckets=8)"));
  fill_parameters(endless, 3);
  ModelCache small(endless, {.capacity = 128});  // one page
  const Sequence full_one = small.add();
  read(endless, small, full_one, text_of(125), 0);
  EXPECT_THAT(refusal([&] { read(endless, small, full_one, five, 1); }),
              HasSubstr("the cache is full: sequence 0 holds 125 tokens and 5 more do not fit"));
  EXPECT_EQ(small.length(full_one), 125);
  // A fork shares its page until it grows, for which there is none.
  const Sequence twin = small.fork(full_one);
  EXPECT_THAT(refusal([&] { read(endless, small, twin, {1}, 1); }),
              HasSubstr("[language model] the cache is full: sequence 1 holds 125 tokens"));
  EXPECT_EQ(small.length(twin), 125);
  EXPECT_EQ(small.usage().pages, 2);  // one for each of two attentions
  small.release(full_one);
  EXPECT_LT(distance(read(endless, small, twin, {1}, 1),
                     [&] {
                       Ids ids = text_of(125);
                       ids.push_back(1);
                       return tail(full(endless, ids), 1);
                     }()),
            kTolerance);
  EXPECT_EQ(small.usage().pages, 2);  // one for each of two attentions
}

// What a fork must copy before it grows counts, before the first of its chunks is read.
TEST(ModelCache, AForkThatDoesNotFitTakesNoPage) {
  const LanguageModel model(model_with("t5(buckets=8)"));
  fill_parameters(model, 3);
  ModelCache cache(model, {.capacity = 256});  // two pages
  const Sequence first = cache.add();
  read(model, cache, first, text_of(100), 0);
  const Sequence twin = cache.fork(first);
  EXPECT_EQ(cache.usage().pages, 2);  // one for each of two attentions
  EXPECT_THAT(refusal([&] { read(model, cache, twin, text_of(40), 10); }),
              HasSubstr("sequence 1 holds 100 tokens and 40 more do not fit; 1 of 2 pages"));
  EXPECT_EQ(cache.usage().pages, 2);
  EXPECT_EQ(cache.length(twin), 100);
  EXPECT_THAT(refusal([&] { read(model, cache, twin, {1, 99}, 1); }), HasSubstr("id 99"));
  EXPECT_EQ(cache.usage().pages, 2);
  read(model, cache, twin, text_of(28), 10);  // what fits its copy
  EXPECT_EQ(cache.usage().pages, 4);
  read(model, cache, first, text_of(28), 10);  // which left the first page to the other
  EXPECT_EQ(cache.usage().pages, 4);
}

// Whatever a pass throws, wherever: lengths are what they were.
TEST(ModelCache, AnInterruptedStepIsTakenBack) {
  const LanguageModel model(model_with("alibi"));
  ModelCache cache(model, {.capacity = 256});
  const Sequence sequence = cache.add();
  read(model, cache, sequence, text_of(20), 0);
  KeyValueCache& first = cache.layers().cache(0);
  const Tensor more = Tensor::zeros(DType::float32, {2, 3, 8});
  {
    CacheStep step(cache.layers(), {&sequence, 1}, "extend");
    step.begin_pass({3});
    const Sequence name = cache.layers().find(sequence, "extend").names[0];
    first.append(name, more.view(), more.view());
    EXPECT_EQ(first.length(name), 23);
    EXPECT_THROW(step.end_pass(), InternalError);  // the other attention appended nothing
  }
  EXPECT_EQ(first.length(cache.layers().find(sequence, "extend").names[0]), 20);
  EXPECT_EQ(cache.length(sequence), 20);
}

TEST(ModelCache, RefusesWhatItCannotDo) {
  const LanguageModel model(model_with("alibi"));
  fill_parameters(model, 3);
  EXPECT_THAT(refusal([&] { ModelCache(model, {}); }), HasSubstr("capacity=0 must be positive"));
  LanguageModelOptions two_way = model_with("alibi");
  two_way.stack.causal = false;
  EXPECT_THAT(refusal([&] { ModelCache(LanguageModel(two_way), {.capacity = 8}); }),
              HasSubstr("not causal"));
  LanguageModelOptions wide = model_with("alibi");
  wide.stack.dtype = DType::float64;
  EXPECT_THAT(refusal([&] { ModelCache(LanguageModel(wide), {.capacity = 8}); }),
              HasSubstr("float64"));

  ModelCache cache(model, {.capacity = 64});
  EXPECT_EQ(cache.attentions(), 2);
  const Sequence sequence = cache.add(), other = cache.add();
  const Sequence both[] = {sequence, other}, twice[] = {sequence, sequence};
  const Ids ids{1, 2, 3, 4};
  const View row(ids.data(), {1, 4}), rows(ids.data(), {2, 2});
  const auto extend = [&](const View& tokens, std::span<const Sequence> sequences,
                          const ExtendOptions& how_much = {}, const ForwardOptions& how = {}) {
    return refusal([&] { model.extend(tokens, cache, sequences, how_much, how); });
  };
  EXPECT_THAT(extend({}, {&sequence, 1}), HasSubstr("(absent)"));
  EXPECT_THAT(extend(row, both), HasSubstr("1 rows for 2 sequences"));
  EXPECT_THAT(extend(View(ids.data(), {1, 0}), {&sequence, 1}), HasSubstr("hold no token"));
  EXPECT_THAT(extend(rows, twice), HasSubstr("listed twice"));
  const Sequence unknown{17};
  EXPECT_THAT(extend(row, {&unknown, 1}), HasSubstr("sequence 17 is none of this cache"));
  const float broken[] = {1, 2};
  EXPECT_THAT(extend(View(broken, {1, 2}), {&sequence, 1}), HasSubstr("must be integers"));
  EXPECT_THAT(extend(row, {&sequence, 1}, {.chunk = -1}), HasSubstr("chunk=-1"));
  const std::uint64_t beyond[] = {1, std::uint64_t{1} << 63};  // of int64
  EXPECT_THAT(extend(View(beyond, {1, 2}), {&sequence, 1}), HasSubstr("id 9223372036854775807 of"));
  EXPECT_THAT(extend(rows, both, {.lengths = View(beyond, {2})}),
              HasSubstr("length 9223372036854775807 of row 1"));
  const std::int64_t lengths[] = {0, 3};
  EXPECT_THAT(extend(rows, both, {.lengths = View(lengths, {2})}), HasSubstr("length 0 of row 0"));
  EXPECT_THAT(extend(rows, both, {.lengths = View(lengths, {1})}), HasSubstr("must be (B)=(2)"));
  EXPECT_THAT(extend(row, {&sequence, 1}, {}, {.training = true}), HasSubstr("training"));
  EXPECT_THAT(extend(rows, both, {}, {.tokens = {.lengths = View(lengths, {2})}}),
              HasSubstr("ExtendOptions::lengths"));
  EXPECT_THAT(extend(row, {&sequence, 1}, {}, {.tokens = {.segments = View(ids.data(), {4})}}),
              HasSubstr("is one document"));
  EXPECT_THAT(refusal([&] { model.step(row, cache, {&sequence, 1}); }), HasSubstr("must be (B)"));

  // Positions are what they are: accepted if that is what is given.
  const std::int64_t right[] = {0, 1, 2, 3}, wrong[] = {0, 1, 2, 4};
  EXPECT_EQ(extend(row, {&sequence, 1}, {}, {.tokens = {.positions = View(right, {4})}}),
            "accepted");
  EXPECT_THAT(extend(row, {&sequence, 1}, {}, {.tokens = {.positions = View(right, {4})}}),
              HasSubstr("position 0 of token 0 of row 0 must be 4"));
  EXPECT_THAT(extend(row, {&other, 1}, {}, {.tokens = {.positions = View(wrong, {4})}}),
              HasSubstr("position 4 of token 3 of row 0 must be 3"));

  const LanguageModel stranger(model_with("alibi"));
  EXPECT_THAT(refusal([&] { stranger.extend(row, cache, {&sequence, 1}); }),
              HasSubstr("another model's"));
  EXPECT_THAT(refusal([&] { cache.truncate(sequence, 5); }), HasSubstr("must lie in [0, 4]"));
  cache.release(sequence);
  EXPECT_THAT(refusal([&] { cache.length(sequence); }), HasSubstr("none of this cache"));
  EXPECT_THAT(refusal([&] { cache.fork(sequence); }), HasSubstr("none of this cache"));
  EXPECT_THAT(refusal([&] { cache.release(sequence); }), HasSubstr("none of this cache"));
}

}  // namespace
}  // namespace volvelle
