// Attention over a cache: the answer of the same problem over plain keys and values, with every
// option, on every path; and what only a cache has.
#include <gmock/gmock.h>

#include "attention/few_queries.h"
#include "support/cached.h"
#include "support/properties.h"
#include "volvelle/base/error.h"

namespace volvelle::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<std::int64_t> lengths_of(const Recipe& recipe) {
  std::vector<std::int64_t> lengths{recipe.keys};
  while (static_cast<std::int64_t>(lengths.size()) < recipe.batch) {
    lengths.push_back(*rc::gen::inRange<std::int64_t>(0, recipe.keys + 1));
  }
  if (*rc::gen::arbitrary<bool>()) std::reverse(lengths.begin(), lengths.end());
  return lengths;
}

void expect_plain_answer(DType dtype) {
  holds("a cache of " + std::string(name_of(dtype)) + " gives the plain answer", [dtype] {
    Recipe recipe = *any_recipe(dtype);
    recipe.key_lengths = false;
    recipe.padding = Padding::right;
    // What is poisoned depends on the queries' positions, which the cache moves unless given.
    recipe.poison = recipe.poison && recipe.query_offset;
    // Queries of a short row may stand before its first token, where no table has a turn.
    recipe.query_positions = recipe.query_positions || recipe.turned > 0;
    const Made made = make(recipe);
    const Cached own = cached(made.problem, lengths_of(recipe), dtype);
    const Answer right = oracle_answer(own.plain);
    // Few queries over a handful of plain keys meet them in a panel, over a cache in parts.
    const bool few = recipe.queries <= kFewQueries && own.plain.dropout == 0;
    const bool other_walk = few && own.plain.k.shape()[own.plain.k.rank() - 2] <= kFewQueries;
    for (const Route& route : routes()) {
      // The same bits as over plain arrays, which agreement_test.cc holds to the oracle.
      const Answer ours = cached_answer(own, route);
      const std::string moved = other_walk ? difference(own.plain, ours, right)
                                           : bit_difference(ours, answer(own.plain, route));
      if (!moved.empty()) RC_FAIL(route.name + " differs over pages: " + moved);
    }
    const Answer oracle = cached_answer(own, {"oracle", AttentionPath::oracle, {}});
    RC_ASSERT(bit_difference(oracle, right).empty());
  });
}

TEST(CachedAttention, GivesThePlainAnswerInFloat32) { expect_plain_answer(DType::float32); }
TEST(CachedAttention, GivesThePlainAnswerInFloat16) { expect_plain_answer(DType::float16); }
TEST(CachedAttention, GivesThePlainAnswerInBFloat16) { expect_plain_answer(DType::bfloat16); }

Recipe grouped(std::int64_t queries) {
  Recipe recipe;
  recipe.batch = 4;
  recipe.key_heads = 2;
  recipe.group = 3;
  recipe.queries = queries;
  recipe.keys = 300;
  recipe.width = 20;
  recipe.value_width = 12;
  recipe.causal = true;
  return recipe;
}

// float32 queries over a half-precision cache: as over the keys and values rounded once.
TEST(CachedAttention, HalfStorageIsReadAsTheNumbersThatItHolds) {
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    for (const std::int64_t queries : {1, 40}) {
      const Made made = make(grouped(queries));
      AttentionProblem rounded = made.problem;
      const Tensor k = converted(converted(made.problem.k, dtype).view(), DType::float32);
      const Tensor v = converted(converted(made.problem.v, dtype).view(), DType::float32);
      rounded.k = k.view();
      rounded.v = v.view();
      const Cached own = cached(made.problem, {300, 0, 129, 128}, dtype);
      const Cached right = cached(rounded, {300, 0, 129, 128}, DType::float32);
      for (const Route& route : routes()) {
        const Answer ours = cached_answer(own, route);
        EXPECT_EQ(bit_difference(ours, answer(right.plain, route)), "") << route.name;
      }
    }
  }
}

// Trap 11: a dummy slot of length 0 gives zeros and touches nobody; trap 9: the newest queries
// stand at the end of each sequence, whatever the others' lengths.
TEST(CachedAttention, RowsOfOtherLengthsDoNotMatter) {
  for (const std::int64_t queries : {1, 5, 17}) {
    const Made made = make(grouped(queries));
    const Cached all = cached(made.problem, {300, 0, 129, 3}, DType::float32);
    for (const Route& route : routes()) {
      const Answer whole = cached_answer(all, route, 3);
      const std::vector<double> output = values_of(whole.output.view());
      const std::vector<double> lse = values_of(whole.lse.view());
      const std::size_t row = output.size() / 4;
      for (std::size_t i = row; i < 2 * row; ++i) ASSERT_EQ(output[i], 0) << route.name;
      for (std::size_t i = lse.size() / 4; i < lse.size() / 2; ++i) {
        ASSERT_EQ(lse[i], -std::numeric_limits<double>::infinity()) << route.name;
      }
      for (std::size_t b = 0; b < 4; ++b) {
        AttentionProblem alone = all.problem;
        const auto bytes = static_cast<std::int64_t>(b * row / static_cast<std::size_t>(12) * 20);
        alone.q =
            View(static_cast<const float*>(all.problem.q.data()) + bytes, {1, 6, queries, 20});
        const SimdScope scope(route.simd.empty() ? "best" : route.simd);
        const AttentionResult one = attend(alone, all.cache, {&all.sequences[b], 1},
                                           AttentionRequest{}, {.path = route.path, .threads = 2});
        const std::vector<double> own = values_of(one.output.view());
        for (std::size_t i = 0; i < row; ++i) ASSERT_EQ(own[i], output[b * row + i]) << route.name;
      }
    }
  }
}

TEST(CachedAttention, AWindowedCacheAnswersAsAWholeOne) {
  Recipe recipe = grouped(1);
  recipe.batch = 1;
  recipe.keys = 700;
  recipe.window = 150;
  recipe.slopes = true;
  const Made made = make(recipe);
  for (const std::int64_t step : {1, 16, 50}) {
    KeyValueCache cache(
        {.key_heads = 2, .head_width = 20, .value_width = 12, .capacity = 4 * 128, .window = 150});
    const Sequence s = cache.add();
    for (std::int64_t done = 0; done < 700; done += step) {
      const std::int64_t count = std::min(step, 700 - done);
      const auto part = [&](const View& view, std::int64_t width) {
        return View(static_cast<const float*>(view.data()) + done * width, {2, count, width},
                    {700 * width, width, 1});
      };
      cache.append(s, part(made.problem.k, 20), part(made.problem.v, 12));
      // So few plain keys take another walk, as GivesThePlainAnswer says.
      if (done % 5 != 0 || done + count <= kFewQueries) continue;
      AttentionProblem now = made.problem;
      now.k = now.v = {};
      const Tensor q =
          filled(DType::float32, {1, 6, count, 20}, [n = 0]() mutable { return std::sin(++n); });
      now.q = q.view();
      AttentionProblem whole = now;
      whole.k =
          View(made.problem.k.data(), DType::float32, {1, 2, done + count, 20}, {0, 14000, 20, 1});
      whole.v =
          View(made.problem.v.data(), DType::float32, {1, 2, done + count, 12}, {0, 8400, 12, 1});
      const AttentionResult ours = attend(now, cache, {&s, 1});
      const AttentionResult right = attend(whole);
      ASSERT_EQ(values_of(ours.output.view()), values_of(right.output.view())) << done;
    }
    EXPECT_GT(cache.first_kept(s), 0);
  }
}

TEST(CachedAttention, AMaskThatReachesWhatWasGivenBackIsRefused) {
  KeyValueCache cache({.key_heads = 1, .head_width = 4, .capacity = 1024, .window = 100});
  const Sequence s = cache.add();
  const Tensor tokens = Tensor::zeros(DType::float32, {300, 4});
  cache.append(s, tokens.view(), tokens.view());
  cache.append(s, View(tokens.data<float>(), {1, 4}), View(tokens.data<float>(), {1, 4}));
  ASSERT_EQ(cache.first_kept(s), 128);
  const Tensor q = Tensor::zeros(DType::float32, {1, 4});
  AttentionProblem problem{.q = q.view()};
  const auto message = [&] {
    try {
      attend(problem, cache, {&s, 1});
    } catch (const InvalidArgument& error) {
      EXPECT_THROW(explain(problem, cache, {&s, 1}), InvalidArgument);
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_THAT(message(), AllOf(HasSubstr("query 0 of batch row 0"), HasSubstr("from 0 on"),
                               HasSubstr("before 128"), HasSubstr("window of 100")));
  problem.causal = true;
  problem.window = 174;  // 300 - 173 = 127
  EXPECT_THAT(message(), HasSubstr("from 127 on"));
  problem.window = 173;
  EXPECT_EQ(message(), "nothing was thrown");
  // What keep hides need not be there.
  problem.window = 0;
  std::int64_t at = 0;
  const Tensor keep = filled(DType::boolean, {301}, [&] { return at++ < 128 ? 0.0 : 1.0; });
  problem.keep = keep.view();
  EXPECT_EQ(message(), "nothing was thrown");
  for (const Route& route : routes()) {
    const SimdScope scope(route.simd.empty() ? "best" : route.simd);
    const AttentionResult result =
        attend(problem, cache, {&s, 1}, AttentionRequest{}, {.path = route.path});
    EXPECT_NEAR(result.lse.data<float>()[0], std::log(173.0), 1e-5) << route.name;
  }
  // Nor what is of another segment, though its id lies between those of the queries.
  const Tensor pair = Tensor::zeros(DType::float32, {2, 4});
  const Tensor query_ids = listed(DType::int32, {2}, {1, 3});
  const Tensor key_ids =
      filled(DType::int32, {301}, [n = 0]() mutable { return n++ < 128 ? 2.0 : 1.0; });
  AttentionProblem packed{
      .q = pair.view(), .query_segments = query_ids.view(), .key_segments = key_ids.view()};
  for (const Route& route : routes()) {
    const SimdScope scope(route.simd.empty() ? "best" : route.simd);
    const AttentionResult result =
        attend(packed, cache, {&s, 1}, {.column_sums = true}, {.path = route.path});
    EXPECT_NEAR(result.lse.data<float>()[0], std::log(173.0), 1e-5) << route.name;
    EXPECT_EQ(result.output.data<float>()[4], 0) << route.name;
  }
  at = 1;
  const Tensor one_more = filled(DType::boolean, {301}, [&] { return at++ < 128 ? 0.0 : 1.0; });
  problem.keep = one_more.view();
  EXPECT_THAT(message(), HasSubstr("before 128"));
}

TEST(CachedAttention, BadCallsAreRefusedByName) {
  KeyValueCache cache({.key_heads = 2, .head_width = 4, .dtype = DType::bfloat16, .capacity = 128});
  const Sequence s = cache.add();
  const Sequence gone = cache.add();
  cache.release(gone);
  const Tensor q = Tensor::zeros(DType::float32, {4, 1, 4});
  const Tensor lengths = Tensor::zeros(DType::int32, {1});
  const auto message = [&](auto&& change, std::vector<Sequence> sequences) {
    AttentionProblem problem{.q = q.view()};
    change(problem);
    try {
      attend(problem, cache, sequences);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  const auto with = [&](auto&& change) { return message(change, {s}); };
  const auto plain = [](AttentionProblem&) {};
  EXPECT_EQ(with(plain), "nothing was thrown");
  EXPECT_THAT(message(plain, {gone}), HasSubstr("was released"));
  EXPECT_THAT(message(plain, {Sequence{77}}), HasSubstr("is not of this cache"));
  EXPECT_THAT(message(plain, {s, s}), HasSubstr("2 sequences are given"));
  EXPECT_THAT(with([](auto& p) { p.q = {}; }), HasSubstr("q is missing"));
  EXPECT_THAT(with([](auto& p) { p.k = p.q; }), HasSubstr("k is given"));
  EXPECT_THAT(with([](auto& p) { p.v = p.q; }), HasSubstr("v is given"));
  EXPECT_THAT(with([&](auto& p) { p.key_lengths = lengths.view(); }),
              HasSubstr("key_lengths are given"));
  EXPECT_THAT(with([](auto& p) { p.padding = Padding::left; }), HasSubstr("padding is set"));
  const Tensor wide = Tensor::zeros(DType::float32, {4, 1, 5});
  EXPECT_THAT(with([&](auto& p) { p.q = wide.view(); }),
              AllOf(HasSubstr("D=5"), HasSubstr("head_width of 4")));
  const Tensor odd = Tensor::zeros(DType::float32, {3, 1, 4});
  EXPECT_THAT(with([&](auto& p) { p.q = odd.view(); }), HasSubstr("H=3 is not a multiple of G=2"));
  const Tensor flat = Tensor::zeros(DType::float32, {1, 4});
  EXPECT_THAT(with([&](auto& p) { p.q = flat.view(); }), HasSubstr("2 key heads"));
  const Tensor line = Tensor::zeros(DType::float32, {4});
  EXPECT_THAT(with([&](auto& p) { p.q = line.view(); }), HasSubstr("must have rank"));
  for (const DType dtype : {DType::float64, DType::float16}) {
    const Tensor other = Tensor::zeros(dtype, {4, 1, 4});
    EXPECT_THAT(with([&](auto& p) { p.q = other.view(); }), HasSubstr("float32 or as the cache"));
  }
}

TEST(CachedAttention, BitsAreTheSameForOneToEightThreads) {
  for (const std::int64_t queries : {1, 4, 16, 70}) {
    Recipe recipe = grouped(queries);
    recipe.keys = 1200;
    const Made made = make(recipe);
    const Cached own = cached(made.problem, {1200, 600, 0, 1000}, DType::float32, false);
    for (const Route& route : fused_routes()) {
      const Answer alone = cached_answer(own, route, 1);
      for (int threads = 2; threads <= 8; ++threads) {
        EXPECT_EQ(bit_difference(cached_answer(own, route, threads), alone), "")
            << route.name << " on " << threads;
      }
    }
  }
}

}  // namespace
}  // namespace volvelle::testing
