// What attention must do whatever the numbers, each with a control that must fail.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/random_numbers.h"
#include "support/expect_routes.h"
#include "support/slices.h"

namespace volvelle::testing {
namespace {

Recipe square(std::int64_t length, std::uint64_t seed) {
  Recipe recipe;
  recipe.seed = seed;
  recipe.key_heads = 2;
  recipe.queries = recipe.keys = length;
  recipe.width = 16;
  recipe.value_width = 16;
  return recipe;
}

// New numbers for every key and value from `first` on.
AttentionProblem with_other_future(const AttentionProblem& p, std::int64_t first, Made& keep) {
  AttentionProblem other = p;
  RandomNumbers random(99);
  for (View AttentionProblem::* array : {&AttentionProblem::k, &AttentionProblem::v}) {
    Tensor changed = copy_of(p.*array);
    const Shape& shape = changed.shape();
    for (std::int64_t n = 0; n < changed.size(); ++n) {
      if (n / shape[3] % shape[2] >= first)
        set_element(changed.raw(), changed.dtype(), n, random.normal());
    }
    keep.memory.push_back(changed);
    other.*array = changed.view();
  }
  return other;
}

// Rows [0, count) of every head, bit for bit.
bool same_first_rows(const Answer& a, const Answer& b, std::int64_t count) {
  const Shape& shape = a.output.shape();
  const std::size_t row = static_cast<std::size_t>(shape[3]) * size_of(a.output.dtype());
  for (std::int64_t head = 0; head < shape[0] * shape[1]; ++head) {
    const std::size_t at = static_cast<std::size_t>(head * shape[2]) * row;
    if (std::memcmp(static_cast<const char*>(a.output.raw()) + at,
                    static_cast<const char*>(b.output.raw()) + at,
                    row * static_cast<std::size_t>(count)) != 0) {
      return false;
    }
  }
  return true;
}

TEST(Properties, CausalRowsDoNotSeeTheFuture) {
  for (const std::int64_t change : {1, 40, 128, 139}) {
    Recipe recipe = square(140, static_cast<std::uint64_t>(change));
    recipe.causal = true;
    Made made = make(recipe);
    const AttentionProblem other = with_other_future(made.problem, change, made);
    AttentionProblem open = made.problem;  // the control sees one key too many
    AttentionProblem other_open = other;
    const std::int64_t one_more = 1;
    open.query_offset = other_open.query_offset = View(&one_more, {1});
    for (const Route& route : routes()) {
      EXPECT_TRUE(same_first_rows(answer(made.problem, route), answer(other, route), change))
          << route.name << " from " << change;
      EXPECT_FALSE(same_first_rows(answer(open, route), answer(other_open, route), change))
          << route.name << " control";
    }
  }
}

// Each row of a padded batch equals the row run alone without its padding.
TEST(Properties, PaddingChangesNothing) {
  for (const Padding side : {Padding::right, Padding::left}) {
    Recipe recipe = square(90, 3);
    recipe.batch = 3;
    recipe.layout = Layout::bthd;
    Made made = make(recipe);
    const std::int32_t lengths[] = {90, 33, 1};
    AttentionProblem padded = made.problem;
    padded.key_lengths = View(lengths, {3});
    padded.padding = side;
    AttentionProblem other_side = padded;
    other_side.padding = side == Padding::left ? Padding::right : Padding::left;
    for (const Route& route : routes()) {
      const Answer whole = answer(padded, route);
      for (std::int64_t b = 0; b < 3; ++b) {
        const std::int64_t length = lengths[b];
        const std::int64_t first = side == Padding::left ? 90 - length : 0;
        AttentionProblem alone{.q = slice(made.problem.q, 0, b, 1),
                               .k = slice(slice(made.problem.k, 0, b, 1), 2, first, length),
                               .v = slice(slice(made.problem.v, 0, b, 1), 2, first, length)};
        const Answer one = answer(alone, route);
        Answer part;
        part.output = copy_of(slice(whole.output.view(), 0, b, 1));
        part.lse = copy_of(slice(whole.lse.view(), 0, b, 1));
        part.entropy = copy_of(slice(whole.entropy.view(), 0, b, 1));
        part.column_sums =
            copy_of(slice(slice(whole.column_sums.view(), 0, b, 1), 2, first, length));
        EXPECT_EQ(difference(alone, part, one), "") << route.name << " row " << b;
      }
      EXPECT_NE(difference(padded, answer(other_side, route), whole), "")
          << route.name << " control";
    }
  }
}

// Two documents in one row give what each gives in a row of its own.
TEST(Properties, PackedDocumentsStayApart) {
  constexpr std::int64_t kFirst = 70, kSecond = 55;
  Recipe recipe = square(kFirst + kSecond, 4);
  recipe.causal = true;
  Made made = make(recipe);
  std::vector<std::int32_t> ids(kFirst + kSecond, 7);
  std::fill(ids.begin() + kFirst, ids.end(), -2);
  AttentionProblem packed = made.problem;
  packed.query_segments = packed.key_segments = View(ids.data(), {1, kFirst + kSecond});
  for (const Route& route : routes()) {
    const Answer whole = answer(packed, route);
    for (const std::int64_t first : {std::int64_t{0}, kFirst}) {
      const std::int64_t count = first == 0 ? kFirst : kSecond;
      AttentionProblem alone = made.problem;
      for (View AttentionProblem::* array :
           {&AttentionProblem::q, &AttentionProblem::k, &AttentionProblem::v}) {
        alone.*array = slice(made.problem.*array, 2, first, count);
      }
      const auto part = [&](const Answer& from) {
        Answer cut;
        cut.output = copy_of(slice(from.output.view(), 2, first, count));
        cut.lse = copy_of(slice(from.lse.view(), 2, first, count));
        cut.entropy = copy_of(slice(from.entropy.view(), 2, first, count));
        cut.column_sums = copy_of(slice(from.column_sums.view(), 2, first, count));
        return cut;
      };
      const Answer one = answer(alone, route);
      EXPECT_EQ(difference(alone, part(whole), one), "") << route.name << " from " << first;
      if (first > 0) {
        EXPECT_NE(difference(alone, part(answer(made.problem, route)), one), "") << "control";
      }
    }
  }
}

// Without positions the order of the keys is no part of the answer; with ALiBi it is.
TEST(Properties, OrderOfKeysDoesNotMatterWithoutPositions) {
  Made made = make(square(140, 5));
  std::vector<std::int64_t> order(140);
  std::iota(order.begin(), order.end(), 0);
  RandomNumbers random(1);
  for (std::size_t n = order.size(); n > 1; --n) {
    std::swap(order[n - 1],
              order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(n)))]);
  }
  AttentionProblem shuffled = made.problem;
  for (View AttentionProblem::* array : {&AttentionProblem::k, &AttentionProblem::v}) {
    const Tensor from = copy_of(made.problem.*array);
    Tensor to = copy_of(made.problem.*array);
    for (std::int64_t n = 0; n < from.size(); ++n) {
      const std::int64_t d = n % 16, j = n / 16 % 140, h = n / 16 / 140;
      to.data<float>()[n] =
          from.data<float>()[(h * 140 + order[static_cast<std::size_t>(j)]) * 16 + d];
    }
    made.memory.push_back(to);
    shuffled.*array = to.view();
  }
  const float slopes[] = {0.5F, 0.25F};
  for (const Route& route : routes()) {
    const auto outputs_agree = [&](const AttentionProblem& a, const AttentionProblem& b) {
      Answer ours = answer(a, route);
      const Answer right = answer(b, route);
      ours.column_sums = right.column_sums;  // these are shuffled with the keys
      return difference(b, ours, right).empty();
    };
    EXPECT_TRUE(outputs_agree(shuffled, made.problem)) << route.name;
    AttentionProblem positioned = made.problem, positioned_shuffled = shuffled;
    positioned.slopes = positioned_shuffled.slopes = View(slopes, {2});
    EXPECT_FALSE(outputs_agree(positioned_shuffled, positioned)) << route.name << " control";
    // With the positions shuffled along, it does not matter again.
    positioned_shuffled.key_positions = View(order.data(), {1, 140});
    EXPECT_TRUE(outputs_agree(positioned_shuffled, positioned)) << route.name;
  }
}

// Biases by position depend on offsets only: all positions may move together.
TEST(Properties, PositionBiasesDependOnOffsetsOnly) {
  Recipe recipe = square(60, 6);
  recipe.slopes = true;
  recipe.table_reach = 7;
  recipe.buckets = Buckets::two_way;
  Made made = make(recipe);
  std::vector<std::int64_t> moved(60), stretched(60);
  for (std::int64_t i = 0; i < 60; ++i) {
    moved[static_cast<std::size_t>(i)] = i + 1000003;
    stretched[static_cast<std::size_t>(i)] = 2 * i;
  }
  AttentionProblem elsewhere = made.problem;
  elsewhere.query_positions = elsewhere.key_positions = View(moved.data(), {60});
  AttentionProblem control = made.problem;
  control.query_positions = control.key_positions = View(stretched.data(), {60});
  for (const Route& route : routes()) {
    const Answer right = answer(made.problem, route);
    EXPECT_EQ(bit_difference(answer(elsewhere, route), right), "") << route.name;
    EXPECT_NE(difference(made.problem, answer(control, route), right), "") << route.name;
  }
}

// Values that name their key, all scores equal: the output counts the keys that are seen.
TEST(Properties, WindowCountsTheQueryItself) {
  constexpr std::int64_t kLength = 11;
  const Tensor q = Tensor::zeros(DType::float32, {kLength, 4});
  Tensor v = Tensor::zeros(DType::float32, {kLength, kLength});
  for (std::int64_t j = 0; j < kLength; ++j) v.data<float>()[j * kLength + j] = 1;
  const auto seen_by_last = [&](std::int64_t window, const Route& route) {
    AttentionProblem p{.q = q.view(), .k = q.view(), .v = v.view()};
    p.causal = true;
    p.window = window;
    const Answer ours = answer(p, route);
    std::vector<std::int64_t> keys;
    for (std::int64_t j = 0; j < kLength; ++j) {
      if (ours.output.data<float>()[10 * kLength + j] > 0) keys.push_back(j);
    }
    return keys;
  };
  for (const Route& route : routes()) {
    EXPECT_EQ(seen_by_last(4, route), (std::vector<std::int64_t>{7, 8, 9, 10})) << route.name;
    EXPECT_EQ(seen_by_last(3, route).size(), 3u);
    EXPECT_EQ(seen_by_last(5, route).size(), 5u);
    EXPECT_EQ(seen_by_last(1, route), (std::vector<std::int64_t>{10}));
    EXPECT_EQ(seen_by_last(0, route).size(), 11u);
    EXPECT_EQ(seen_by_last(1000, route).size(), 11u);
  }
}

// Token by token against a growing cache equals the whole at once, with every position option.
TEST(Properties, StepByStepEqualsTheFullPass) {
  Recipe recipe = square(40, 7);
  recipe.slopes = true;
  recipe.table_reach = 5;
  recipe.sinks = true;
  recipe.window = 17;
  recipe.causal = true;
  const Made made = make(recipe);
  for (const Route& route : routes()) {
    const Answer whole = answer(made.problem, route);
    double worst = 0, worst_control = 0;
    for (std::int64_t t = 0; t < 40; ++t) {
      AttentionProblem step = made.problem;
      step.q = slice(step.q, 2, t, 1);
      step.k = slice(step.k, 2, 0, t + 1);
      step.v = slice(step.v, 2, 0, t + 1);
      const Answer one = answer(step, route);
      step.alignment = Alignment::top_left;  // the control: a lone query taken for the first
      const Answer control = answer(step, route);
      for (std::int64_t h = 0; h < 2; ++h) {
        for (std::int64_t e = 0; e < 16; ++e) {
          const float right = whole.output.data<float>()[(h * 40 + t) * 16 + e];
          worst = std::max<double>(worst, std::fabs(one.output.data<float>()[h * 16 + e] - right));
          worst_control = std::max<double>(
              worst_control, std::fabs(control.output.data<float>()[h * 16 + e] - right));
        }
      }
    }
    EXPECT_LT(worst, 1e-5) << route.name;
    EXPECT_GT(worst_control, 1e-2) << route.name;
  }
}

// Weights of a row sum to one less the sink's share; column sums add up to the same total.
TEST(Properties, ColumnSumsAddUpToTheRows) {
  Recipe recipe = square(133, 8);
  recipe.causal = true;
  const Made plain = make(recipe);
  recipe.sinks = true;
  const Made sunk = make(recipe);
  for (const Route& route : routes()) {
    const auto total = [&](const Made& made) {
      const std::vector<double> sums = values_of(answer(made.problem, route).column_sums.view());
      return std::accumulate(sums.begin(), sums.end(), 0.0);
    };
    EXPECT_NEAR(total(plain), 2 * 133, 1e-3) << route.name;
    EXPECT_LT(total(sunk), 2 * 133 - 1) << route.name;
  }
}

// Equal scores over n keys: entropy ln n, log-sum-exp ln n.
TEST(Properties, EntropyOfEqualScoresIsTheLogOfTheirCount) {
  const Tensor q = Tensor::zeros(DType::float32, {5, 8});
  const Tensor v = Tensor::zeros(DType::float32, {200, 8});
  const Tensor k = Tensor::zeros(DType::float32, {200, 8});
  AttentionProblem p{.q = q.view(), .k = k.view(), .v = v.view()};
  for (const Route& route : routes()) {
    Answer ours = answer(p, route);
    EXPECT_NEAR(ours.entropy.data<float>()[3], std::log(200.0), 2e-6) << route.name;
    EXPECT_NEAR(ours.lse.data<float>()[3], std::log(200.0), 2e-6) << route.name;
    AttentionProblem with_sink = p;
    const float sink = 0;
    with_sink.sinks = View(&sink, {1});
    ours = answer(with_sink, route);
    EXPECT_NEAR(ours.entropy.data<float>()[3], std::log(201.0), 2e-6) << route.name;
  }
}

}  // namespace
}  // namespace volvelle::testing
