// Few queries over many keys: parts of the keys put together, the same bits however the queries are
// cut, and the rule by which a problem goes this way.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "attention/few_queries.h"
#include "support/cached.h"
#include "support/expect_routes.h"
#include "support/slices.h"

namespace volvelle::testing {
namespace {

using ::testing::HasSubstr;

Recipe plain(std::int64_t queries, std::int64_t keys) {
  Recipe recipe;
  recipe.key_heads = 2;
  recipe.group = 2;
  recipe.queries = queries;
  recipe.keys = keys;
  recipe.width = 20;
  recipe.value_width = 36;
  recipe.causal = true;
  return recipe;
}

// Every exclusion and every bias, one at a time and some together.
std::vector<Recipe> options_over(std::int64_t queries, std::int64_t keys) {
  std::vector<Recipe> all;
  const auto with = [&](auto&& change) {
    Recipe recipe = plain(queries, keys);
    change(recipe);
    recipe.seed = all.size() + 1;
    all.push_back(recipe);
  };
  with([](Recipe&) {});
  with([](Recipe& r) { r.causal = false; });
  with([](Recipe& r) { r.window = 100; });
  with([](Recipe& r) { r.window = 513; });
  with([](Recipe& r) {
    r.window_right = 3;
    r.causal = false;
  });
  with([](Recipe& r) { r.prefix = 700; });
  with([](Recipe& r) { r.chunk = 96; });
  with([](Recipe& r) { r.segments = 3; });
  with([](Recipe& r) { r.keep = Span::full; });
  with([](Recipe& r) {
    r.keep = Span::keys;
    r.kept = 0.02;
  });
  with([](Recipe& r) {
    r.keep = Span::plane;
    r.keep_dtype = DType::int32;
  });
  with([](Recipe& r) { r.sinks = true; });
  with([](Recipe& r) { r.softcap = 2; });
  with([](Recipe& r) { r.bias = Span::full; });
  with([](Recipe& r) {
    r.bias = Span::keys;
    r.bias_dtype = DType::float16;
  });
  with([](Recipe& r) {
    r.bias = Span::queries;
    r.bias_minus_infinity = true;
  });
  with([](Recipe& r) { r.slopes = true; });
  with([](Recipe& r) { r.table_reach = 16; });
  with([](Recipe& r) { r.buckets = Buckets::one_way; });
  with([](Recipe& r) {
    r.slopes = true;
    r.query_positions = r.key_positions = true;
  });
  with([](Recipe& r) {
    r.window = 600;
    r.slopes = r.sinks = true;
    r.softcap = 5;
    r.keep = Span::per_head;
    r.bias = Span::per_head;
  });
  return all;
}

TEST(FewQueries, GiveTheOraclesAnswerOverSeveralPartsWithEveryOption) {
  for (const std::int64_t queries : {1, 4, 16}) {
    for (Recipe recipe : options_over(queries, queries == 4 ? 1537 : 1100)) {
      recipe.poison = queries != 4;
      expect_oracles_answer(recipe);
    }
  }
}

// A control of the comparison above: without its last part, an answer is told apart.
TEST(FewQueries, AnAnswerThatLacksItsLastPartIsCaught) {
  Recipe recipe = plain(4, 1100);
  recipe.causal = false;
  const Made made = make(recipe);
  AttentionProblem lacking = made.problem;
  lacking.k = slice(lacking.k, 2, 0, 1024);
  lacking.v = slice(lacking.v, 2, 0, 1024);
  const Answer right = oracle_answer(made.problem);
  for (const Route& route : fused_routes()) {
    Answer ours = answer(lacking, route);
    ours.column_sums = right.column_sums;
    EXPECT_THAT(difference(made.problem, ours, right), HasSubstr("output")) << route.name;
  }
}

// Queries [first, first + count) of a problem, standing where they stood.
AttentionProblem queries_of(const AttentionProblem& p, std::int64_t first, std::int64_t count,
                            const Tensor& offset) {
  AttentionProblem part = p;
  part.q = slice(p.q, 2, first, count);
  part.query_offset = offset.view();
  const auto cut = [&](View& view, int axis) {
    if (view && view.rank() > axis && view.shape()[axis] != 1) {
      view = slice(view, axis, first, count);
    }
  };
  cut(part.bias, part.bias ? part.bias.rank() - 2 : 0);
  cut(part.keep, part.keep ? part.keep.rank() - 2 : 0);
  cut(part.query_segments, 1);
  cut(part.query_positions, 1);
  return part;
}

// One by one, in pieces and all 16 at once: the same bits, for every exclusion and bias.
TEST(FewQueries, HaveTheSameBitsHoweverTheyAreCut) {
  for (const Recipe& recipe : options_over(16, 700)) {
    SCOPED_TRACE(::testing::PrintToString(recipe));
    const Made made = make(recipe);
    for (const Route& route : fused_routes()) {
      const Answer whole = answer(made.problem, route);
      const float* const all = whole.output.data<float>();
      for (const std::int64_t step : {1, 3, 16}) {
        for (std::int64_t first = 0; first < 16; first += step) {
          const std::int64_t count = std::min<std::int64_t>(step, 16 - first);
          const Tensor offset = listed(DType::int64, {1}, {static_cast<double>(700 - 16 + first)});
          const AttentionProblem part = queries_of(made.problem, first, count, offset);
          const Answer own = answer(part, route);
          for (std::int64_t h = 0; h < 4; ++h) {
            ASSERT_EQ(
                std::memcmp(own.output.data<float>() + h * count * 36, all + (h * 16 + first) * 36,
                            static_cast<std::size_t>(count) * 36 * sizeof(float)),
                0)
                << route.name << " query " << first << " of pieces of " << step;
            ASSERT_EQ(std::memcmp(own.lse.data<float>() + h * count,
                                  whole.lse.data<float>() + h * 16 + first,
                                  static_cast<std::size_t>(count) * sizeof(float)),
                      0)
                << route.name << " lse";
          }
        }
      }
    }
  }
}

// Token by token over a growing cache, in pieces, and over all at once.
TEST(FewQueries, DecodeStepByStepAsAllAtOnce) {
  constexpr std::int64_t kTokens = 1060;
  for (const DType stored : {DType::float32, DType::bfloat16}) {
    Recipe recipe = plain(kTokens, kTokens);
    recipe.slopes = true;
    recipe.window = 900;
    const Made made = make(recipe);
    const Cached whole = cached(made.problem, {kTokens}, stored, false);
    for (const Route& route : fused_routes()) {
      const Answer at_once = cached_answer(whole, route);  // many queries: by panels
      const std::vector<double> right = values_of(at_once.output.view());
      const SimdScope scope(route.simd);
      std::vector<std::vector<double>> ways;
      for (const std::int64_t step : {1, 7, 16}) {
        KeyValueCache cache(whole.cache.options());
        const Sequence s = cache.add();
        std::vector<double> outputs(right.size());
        for (std::int64_t done = 0; done < kTokens; done += step) {
          const std::int64_t count = std::min(step, kTokens - done);
          const auto three = [&](const View& view) {
            const View part = slice(view, 2, done, count);
            return View(part.data(), part.dtype(), {part.shape()[1], count, part.shape()[3]},
                        {part.strides()[1], part.strides()[2], part.strides()[3]});
          };
          cache.append(s, three(made.problem.k), three(made.problem.v));
          if (done < 900 && done % 128 > 40) continue;  // enough of the early ones
          AttentionProblem now = whole.problem;
          now.q = slice(now.q, 2, done, count);
          const AttentionResult result = attend(now, cache, {&s, 1}, AttentionRequest{});
          const std::vector<double> own = values_of(result.output.view());
          for (std::size_t h = 0; h < 4; ++h) {
            for (std::size_t i = 0; i < static_cast<std::size_t>(count) * 36; ++i) {
              const std::size_t place = (h * kTokens + static_cast<std::size_t>(done)) * 36 + i;
              outputs[place] = own[h * static_cast<std::size_t>(count) * 36 + i];
              ASSERT_NEAR(outputs[place], right[place], 2e-6) << route.name << " token " << done;
            }
          }
        }
        ways.push_back(outputs);
      }
      for (std::size_t place = 0; place < right.size(); ++place) {
        for (const std::size_t other : {std::size_t{1}, std::size_t{2}}) {
          if (ways[0][place] == 0 || ways[other][place] == 0) continue;  // a token left out above
          ASSERT_EQ(ways[0][place], ways[other][place]) << route.name << " element " << place;
        }
      }
    }
  }
}

// A query head among others gives the bits that it gives alone, and so does a batch row.
TEST(FewQueries, BitsDoNotDependOnWhatIsBeside) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    for (const std::int64_t queries : {1, 3, 16}) {
      Recipe recipe = plain(queries, 1100);
      recipe.batch = 2;
      recipe.dtype = dtype;
      recipe.group = 7;
      const Made made = make(recipe);
      for (const Route& route : fused_routes()) {
        const std::vector<double> whole = values_of(answer(made.problem, route, 3).output.view());
        for (const std::int64_t h : {0, 6, 9}) {
          AttentionProblem one = made.problem;
          one.q = slice(slice(one.q, 0, 1, 1), 1, h, 1);
          one.k = slice(slice(one.k, 0, 1, 1), 1, h / 7, 1);
          one.v = slice(slice(one.v, 0, 1, 1), 1, h / 7, 1);
          const std::vector<double> alone = values_of(answer(one, route).output.view());
          const auto first = whole.begin() + (14 + h) * queries * 36;
          EXPECT_TRUE(std::equal(alone.begin(), alone.end(), first)) << route.name << " head " << h;
        }
      }
    }
  }
}

TEST(FewQueries, EveryLayoutOfInputsAndOutputsGivesTheSameBits) {
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
    Recipe recipe = plain(5, 600);
    recipe.batch = 2;
    recipe.dtype = dtype;
    const Made contiguous = make(recipe);
    for (const Layout layout : {Layout::bthd, Layout::fused, Layout::reversed, Layout::gapped}) {
      recipe.layout = layout;
      const Made made = make(recipe);
      for (const Route& route : fused_routes()) {
        const Answer right = answer(contiguous.problem, route);
        LaidOut output = laid_out(right.output, layout);
        LaidOut lse = laid_out(right.lse, layout);
        LaidOut entropy = laid_out(right.entropy, layout);
        LaidOut sums = laid_out(right.column_sums, layout);
        for (LaidOut* each : {&output, &lse, &entropy, &sums}) {
          std::memset(each->memory.raw(), 0x7F, each->memory.bytes());
        }
        const SimdScope scope(route.simd);
        attend(made.problem, {.output = output.writable,
                              .lse = lse.writable,
                              .entropy = entropy.writable,
                              .column_sums = sums.writable});
        EXPECT_EQ(values_of(output.view), values_of(right.output.view())) << route.name;
        EXPECT_EQ(values_of(lse.view), values_of(right.lse.view())) << route.name;
        EXPECT_EQ(values_of(entropy.view), values_of(right.entropy.view())) << route.name;
        EXPECT_EQ(values_of(sums.view), values_of(right.column_sums.view())) << route.name;
      }
    }
  }
}

// More rows than one slab holds, and heads that do not divide into slabs.
TEST(FewQueries, ManyHeadsOnOneKeyHead) {
  for (const std::int64_t queries : {1, 5, 16}) {
    Recipe recipe = plain(queries, 600);
    recipe.key_heads = 1;
    recipe.group = 70;
    recipe.keep = Span::full;
    expect_oracles_answer(recipe);
    recipe.keep = Span::none;
    recipe.sinks = true;
    expect_oracles_answer(recipe);
  }
}

TEST(FewQueries, WidthsAreFree) {
  for (const std::int64_t width : {1, 3, 64, 67, 300}) {
    for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
      Recipe recipe = plain(3, 530);
      recipe.width = width;
      recipe.value_width = 301 - width;
      recipe.dtype = dtype;
      expect_oracles_answer(recipe);
    }
  }
}

TEST(FewQueries, TheRuleLooksAtLengthsTypeAndDropout) {
  const auto taken = [](const Recipe& recipe, double dropout = 0) {
    const Made made = make(recipe);
    AttentionProblem problem = made.problem;
    problem.dropout = dropout;
    return has_few_queries(resolve(problem));
  };
  EXPECT_TRUE(taken(plain(1, 17)));
  EXPECT_FALSE(taken(plain(16, 16)));
  EXPECT_TRUE(taken(plain(16, 1000)));
  EXPECT_FALSE(taken(plain(17, 1000)));
  EXPECT_FALSE(taken(plain(1, 1000), 0.5));
  Recipe wide = plain(1, 1000);
  wide.dtype = DType::float64;
  EXPECT_FALSE(taken(wide));
  const Made made = make(plain(16, 300));
  const AttentionPlan plan = explain(made.problem);
  EXPECT_THAT(plan.reason, HasSubstr("few queries"));
  EXPECT_EQ(plan.tiles.queries, 16);
  EXPECT_EQ(plan.tiles.full, 2 * 4);  // the last tile of each head is cut by causality
  EXPECT_EQ(plan.tiles.partial, 4);
}

}  // namespace
}  // namespace volvelle::testing
