// The same bits for any number of threads and whatever else is in the batch.
#include <array>
#include <cstring>
#include <thread>

#include "support/expect_routes.h"
#include "support/slices.h"

namespace volvelle::testing {
namespace {

Recipe busy(DType dtype, std::uint64_t seed) {
  Recipe recipe;
  recipe.seed = seed;
  recipe.dtype = dtype;
  recipe.batch = 3;
  recipe.key_heads = 2;
  recipe.group = 2;
  recipe.queries = 70;
  recipe.keys = 140;
  recipe.width = 20;
  recipe.value_width = 20;
  recipe.causal = true;
  recipe.bias = Span::plane;
  recipe.slopes = true;
  recipe.sinks = true;
  recipe.keep = Span::full;
  recipe.segments = 3;
  return recipe;
}

Recipe bare(DType dtype, std::uint64_t seed) {
  Recipe recipe;
  recipe.seed = seed;
  recipe.dtype = dtype;
  recipe.batch = 3;
  recipe.key_heads = 4;
  recipe.queries = 140;
  recipe.keys = 140;
  recipe.width = recipe.value_width = 24;
  return recipe;
}

Recipe by_offset(DType dtype, std::uint64_t seed) {
  Recipe recipe = bare(dtype, seed);
  recipe.causal = recipe.slopes = true;
  recipe.table_reach = 30;
  recipe.buckets = Buckets::one_way;
  return recipe;
}

TEST(Bits, AreTheSameForOneToEightThreads) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    for (const Recipe& recipe : {busy(dtype, 5), bare(dtype, 6), by_offset(dtype, 7)}) {
      const Made made = make(recipe);
      for (const Route& route : routes()) {
        const Answer alone = answer(made.problem, route, 1);
        const int step = dtype == DType::float32 ? 1 : 3;
        for (int threads = 2; threads <= 8; threads += step) {
          EXPECT_EQ(bit_difference(answer(made.problem, route, threads), alone), "")
              << route.name << " on " << threads << " threads, " << name_of(dtype);
        }
      }
    }
  }
}

TEST(Bits, AreTheSameCallAfterCall) {
  const Made made = make(busy(DType::float32, 8));
  for (const Route& route : routes()) {
    const Answer first = answer(made.problem, route, 4);
    for (int call = 0; call < 5; ++call) {
      EXPECT_EQ(bit_difference(answer(made.problem, route, 4), first), "") << route.name;
    }
  }
}

// Row b of a batch on its own; arrays without a batch axis stay as they are.
AttentionProblem row_alone(const AttentionProblem& p, std::int64_t b) {
  AttentionProblem alone = p;
  for (View AttentionProblem::* array :
       {&AttentionProblem::q, &AttentionProblem::k, &AttentionProblem::v, &AttentionProblem::keep,
        &AttentionProblem::query_segments, &AttentionProblem::key_segments}) {
    alone.*array = slice(p.*array, 0, b, 1);
  }
  return alone;
}

bool same_rows(const Tensor& one, const Tensor& whole, std::int64_t row) {
  return std::memcmp(
             one.raw(),
             static_cast<const char*>(whole.raw()) + static_cast<std::size_t>(row) * one.bytes(),
             one.bytes()) == 0;
}

TEST(Bits, DoNotDependOnBatchNeighbours) {
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    const Made made = make(busy(dtype, 7));
    for (const Route& route : routes()) {
      const Answer whole = answer(made.problem, route, 3);
      for (std::int64_t b = 0; b < 3; ++b) {
        const Answer one = answer(row_alone(made.problem, b), route, 2);
        EXPECT_TRUE(same_rows(one.output, whole.output, b)) << route.name << " row " << b;
        EXPECT_TRUE(same_rows(one.lse, whole.lse, b)) << route.name << " row " << b;
        EXPECT_TRUE(same_rows(one.entropy, whole.entropy, b)) << route.name << " row " << b;
        EXPECT_TRUE(same_rows(one.column_sums, whole.column_sums, b)) << route.name << " row " << b;
      }
    }
  }
}

// A head among others gives the bits it gives alone.
TEST(Bits, DoNotDependOnTheNumberOfHeads) {
  const Made made = make(bare(DType::float32, 9));
  for (const Route& route : routes()) {
    const Answer whole = answer(made.problem, route, 2);
    for (std::int64_t h = 0; h < 4; ++h) {
      AttentionProblem one = made.problem;
      one.q = slice(slice(one.q, 0, 2, 1), 1, h, 1);
      one.k = slice(slice(one.k, 0, 2, 1), 1, h, 1);
      one.v = slice(slice(one.v, 0, 2, 1), 1, h, 1);
      const Answer alone = answer(one, route, 1);
      EXPECT_TRUE(same_rows(alone.output, whole.output, 8 + h)) << route.name << " head " << h;
      EXPECT_TRUE(same_rows(alone.lse, whole.lse, 8 + h)) << route.name << " head " << h;
    }
  }
}

TEST(Bits, AreTheSameWhenSeveralThreadsCall) {
  const Made made = make(busy(DType::float32, 11));
  for (const Route& route :
       {fused_routes().front(), Route{"composed", AttentionPath::composed, {}}}) {
    const Answer right = answer(made.problem, route, 2);
    std::array<std::string, 4> wrong;
    std::vector<std::thread> callers;
    for (std::string& text : wrong) {
      callers.emplace_back([&] {
        Answer ours = right;
        for (int call = 0; call < 5 && text.empty(); ++call) {
          ours.output = Tensor::zeros(DType::float32, right.output.shape());
          attend(made.problem, {.output = ours.output.mutable_view()},
                 {.path = route.path, .threads = 3});
          text = bit_difference(ours, right);
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    for (const std::string& text : wrong) EXPECT_EQ(text, "") << route.name;
  }
}

// What is asked for beside the output does not move it.
TEST(Bits, DoNotDependOnWhatElseIsAskedFor) {
  const Made made = make(busy(DType::float32, 10));
  for (const Route& route : routes()) {
    const Answer all = answer(made.problem, route, 2);
    const SimdScope scope(route.simd.empty() ? "best" : route.simd);
    const AttentionResult bare_result =
        attend(made.problem, AttentionRequest{.lse = false}, {.path = route.path});
    EXPECT_FALSE(bare_result.lse);
    EXPECT_EQ(values_of(bare_result.output.view()), values_of(all.output.view())) << route.name;
  }
}

}  // namespace
}  // namespace volvelle::testing
