// Each known fault of turned queries and keys is made by loops of the test's own, and must be
// named; and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "support/naive_attention.h"
#include "volvelle/attention/attend.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/check/diagnose.h"
#include "volvelle/check/expect.h"
#include "volvelle/check/expect_gradients.h"

namespace volvelle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kOffset = 2;  // S - T
constexpr std::int64_t kColumns = 8;

// How a program turns rows: token n of queries or keys stands at position(n).
struct Turn {
  std::int64_t columns = kColumns;  // that turn
  std::int64_t exponents_over = kColumns;
  double base = 10000;
  bool interleaved = false;
  double sign = 1;
  std::function<std::int64_t(std::int64_t)> position = [](std::int64_t n) { return n; };

  double angle(std::int64_t p, std::int64_t i) const {
    return sign * static_cast<double>(p) *
           std::pow(base, -2 * static_cast<double>(i) / static_cast<double>(exponents_over));
  }

  void rows(std::vector<float>& numbers, std::int64_t tokens, std::int64_t width) const {
    const std::int64_t pairs = columns / 2;
    for (std::size_t n = 0; n < numbers.size() / static_cast<std::size_t>(width); ++n) {
      const std::int64_t p = position(static_cast<std::int64_t>(n) % tokens);
      float* row = numbers.data() + n * static_cast<std::size_t>(width);
      for (std::int64_t i = 0; i < pairs; ++i) {
        float& a = row[interleaved ? 2 * i : i];
        float& b = row[interleaved ? 2 * i + 1 : i + pairs];
        const double x = static_cast<double>(a), y = static_cast<double>(b);
        const double c = std::cos(angle(p, i)), s = std::sin(angle(p, i));
        a = static_cast<float>(x * c - y * s);
        b = static_cast<float>(x * s + y * c);
      }
    }
  }
};

Turn at_queries(Turn turn = {}) {
  turn.position = [](std::int64_t n) { return n + kOffset; };
  return turn;
}

// B 2, H 4, G 2, T 7, S 9, D 8, causal, turned as `right` says; base 10000 and the whole head.
class DiagnoseRotary : public testing::Test {
 protected:
  DiagnoseRotary() { set_right({}); }

  void set_right(const Turn& right) {
    right_ = right;
    cosines_ = Tensor(DType::float32, {9, right.columns / 2});
    sines_ = Tensor(DType::float32, {9, right.columns / 2});
    for (std::int64_t n = 0; n < cosines_.size(); ++n) {
      const std::int64_t pairs = right.columns / 2;
      cosines_.data<float>()[n] = static_cast<float>(std::cos(right.angle(n / pairs, n % pairs)));
      sines_.data<float>()[n] = static_cast<float>(std::sin(right.angle(n / pairs, n % pairs)));
    }
  }

  AttentionProblem problem() const {
    AttentionProblem p = plain_.problem();
    p.causal = true;
    p.rotary = {
        .cosines = cosines_.view(),
        .sines = sines_.view(),
        .pairing = right_.interleaved ? RotaryPairing::interleaved : RotaryPairing::split_half};
    return p;
  }

  std::vector<std::string> faults(const std::function<void(NaiveAttention&)>& turn,
                                  const AttentionProblem& of) const {
    NaiveAttention theirs = plain_;
    theirs.seen = [](auto, auto, auto i, auto j) { return j <= i + kOffset; };
    turn(theirs);
    const std::vector<float> file = theirs.output();
    const AttentionResult ours = attend(of, {.lse = true}, {.path = AttentionPath::oracle});
    Expected expected;
    expected.output = View(file.data(), ours.output.shape());
    const ExpectReport report = check_expected(of, ours, expected);
    if (report.matches) return {"matches"};
    std::vector<std::string> names;
    for (const Diagnosis& one : report.diagnosis) names.push_back(one.fault);
    return names;
  }

  std::vector<std::string> with(const Turn& q, const Turn& k) const {
    return faults(
        [&](NaiveAttention& theirs) {
          q.rows(theirs.q, theirs.queries, theirs.width);
          k.rows(theirs.k, theirs.keys, theirs.width);
        },
        problem());
  }
  std::vector<std::string> with(const Turn& both) const { return with(at_queries(both), both); }

  NaiveAttention plain_ = NaiveAttention::random(2, 4, 2, 7, 9, kColumns, 11);
  Turn right_;
  Tensor cosines_, sines_;
};

TEST_F(DiagnoseRotary, TheRightAnswerMatches) {
  EXPECT_THAT(with({}), ElementsAre("matches"));
  set_right({.columns = 4, .exponents_over = 4, .interleaved = true});
  EXPECT_THAT(with({.columns = 4, .exponents_over = 4, .interleaved = true}),
              ElementsAre("matches"));
}

TEST_F(DiagnoseRotary, AnUnknownBaseIsNotNamed) { EXPECT_THAT(with({.base = 777}), IsEmpty()); }

TEST_F(DiagnoseRotary, Ignored) {
  EXPECT_THAT(faults([](NaiveAttention&) {}, problem()), ElementsAre("rotary_ignored"));
}

TEST_F(DiagnoseRotary, Pairing) {
  EXPECT_THAT(with({.interleaved = true}), ElementsAre("rotary_pairing"));
  set_right({.interleaved = true});
  EXPECT_THAT(with({}), ElementsAre("rotary_pairing"));
}

TEST_F(DiagnoseRotary, Direction) {
  EXPECT_THAT(with({.sign = -1}), ElementsAre("rotary_direction"));
}

TEST_F(DiagnoseRotary, Bases) {
  EXPECT_THAT(with({.base = 5e5}), ElementsAre("rotary_base"));
  EXPECT_THAT(with({.base = 1e6}), ElementsAre("rotary_base"));
  set_right({.base = 5e5});
  EXPECT_THAT(with({}), ElementsAre("rotary_base"));
}

TEST_F(DiagnoseRotary, FrequenciesOverTheModelWidth) {
  EXPECT_THAT(with({.exponents_over = 4 * kColumns}), ElementsAre("rotary_base"));
}

TEST_F(DiagnoseRotary, FrequenciesOverTheHeadWhereApartTurns) {
  set_right({.columns = 4, .exponents_over = 4});
  EXPECT_THAT(with({.columns = 4, .exponents_over = 8}), ElementsAre("rotary_base"));
}

TEST_F(DiagnoseRotary, Widths) {
  EXPECT_THAT(with({.columns = 4, .exponents_over = 4}), ElementsAre("rotary_width"));
  set_right({.columns = 4, .exponents_over = 4});
  EXPECT_THAT(with({}), ElementsAre("rotary_width"));
}

TEST_F(DiagnoseRotary, QueriesOnePositionOff) {
  for (const std::int64_t by : {1, -1}) {
    Turn queries;
    queries.position = [by](std::int64_t n) { return n + kOffset + by; };
    EXPECT_THAT(with(queries, {}), ElementsAre("rotary_offset"));
  }
}

TEST_F(DiagnoseRotary, CountedFromZeroAtEachCall) {
  EXPECT_THAT(with({}, {}), ElementsAre("rotary_from_zero"));  // queries alone
  Turn keys;  // and the last 7 keys; turns by offset alone make both one shift for these
  keys.position = [](std::int64_t n) { return n >= 2 ? n - 2 : n; };
  EXPECT_THAT(with({}, keys), ElementsAre("rotary_from_zero"));
}

TEST_F(DiagnoseRotary, OneSideNotTurned) {
  Turn none;
  none.sign = 0;
  EXPECT_THAT(with(at_queries(), none), ElementsAre("keys_not_turned"));
  EXPECT_THAT(with(none, {}), ElementsAre("queries_not_turned"));
}

TEST_F(DiagnoseRotary, KeysTurnedTwice) {
  AttentionProblem before = problem();
  before.rotary.keys_are_turned = true;
  EXPECT_THAT(faults(
                  [](NaiveAttention& theirs) {
                    at_queries().rows(theirs.q, theirs.queries, theirs.width);
                    Turn().rows(theirs.k, theirs.keys, theirs.width);
                  },
                  before),
              ElementsAre("keys_turned_twice"));
}

TEST_F(DiagnoseRotary, ValuesTurned) {
  EXPECT_THAT(faults(
                  [](NaiveAttention& theirs) {
                    at_queries().rows(theirs.q, theirs.queries, theirs.width);
                    Turn().rows(theirs.k, theirs.keys, theirs.width);
                    Turn().rows(theirs.v, theirs.keys, theirs.width);
                  },
                  problem()),
              ElementsAre("values_turned"));
}

TEST_F(DiagnoseRotary, EachBatchRowHasItsOwnTables) {
  Tensor cosines(DType::float32, {2, 9, 4}), sines(DType::float32, {2, 9, 4});
  for (std::int64_t n = 0; n < 36; ++n) {
    cosines.data<float>()[n] = cosines.data<float>()[n + 36] = cosines_.data<float>()[n];
    sines.data<float>()[n] = sines.data<float>()[n + 36] = sines_.data<float>()[n];
  }
  AttentionProblem p = problem();
  p.rotary.cosines = cosines.view();
  p.rotary.sines = sines.view();
  Turn queries;
  queries.position = [](std::int64_t n) { return n + kOffset + 1; };
  EXPECT_THAT(faults(
                  [&](NaiveAttention& theirs) {
                    queries.rows(theirs.q, theirs.queries, theirs.width);
                    Turn().rows(theirs.k, theirs.keys, theirs.width);
                  },
                  p),
              ElementsAre("rotary_offset"));
}

// Gradients that another program forgot to turn back, and those of another pairing.
TEST_F(DiagnoseRotary, Gradients) {
  const AttentionProblem right = problem();
  const Tensor grad = [&] {
    Tensor made(DType::float32, {2, 4, 7, kColumns});
    const std::vector<float> numbers = random_numbers(made.size(), 5);
    std::copy(numbers.begin(), numbers.end(), made.data<float>());
    return made;
  }();
  const auto gradients_of = [&](const AttentionProblem& p) {
    const AttentionResult forward = attend(p, {.lse = true});
    return attend_backward(p, {.output = forward.output.view(), .lse = forward.lse.view()},
                           grad.view());
  };
  const AttentionGradientResult ours = gradients_of(right);
  const auto named = [&](const AttentionGradientResult& theirs) {
    ExpectedGradients file;
    file.q = theirs.q.view();
    file.k = theirs.k.view();
    file.v = theirs.v.view();
    std::vector<std::string> names;
    for (const auto& one : check_expected_gradients(right, {grad.view(), ours}, file).diagnosis) {
      names.push_back(one.fault);
    }
    return names;
  };
  EXPECT_THAT(named(ours), IsEmpty());

  NaiveAttention before = plain_;
  at_queries().rows(before.q, before.queries, before.width);
  Turn().rows(before.k, before.keys, before.width);
  AttentionProblem turned = before.problem();
  turned.causal = true;
  EXPECT_THAT(named(gradients_of(turned)), testing::Contains("turn_back_missing"));

  AttentionProblem pairs = right;
  pairs.rotary.pairing = RotaryPairing::interleaved;
  EXPECT_THAT(named(gradients_of(pairs)), testing::Contains("rotary_pairing"));
}

}  // namespace
}  // namespace volvelle
