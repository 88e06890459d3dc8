// Every rule of a turn, broken once: the message names the rule and the values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "volvelle/attention/attend.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/attention/attend_variable.h"
#include "volvelle/base/error.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A sound problem with B 2, H 4, G 2, T 3, S 5, D 8, turned over r 6 with P 9.
struct Sound {
  Tensor q = Tensor::zeros(DType::float32, {2, 4, 3, 8});
  Tensor k = Tensor::zeros(DType::float32, {2, 2, 5, 8});
  Tensor v = Tensor::zeros(DType::float32, {2, 2, 5, 6});
  Tensor table = Tensor::zeros(DType::float32, {9, 3});
  AttentionProblem problem{.q = q.view(), .k = k.view(), .v = v.view()};
  Sound() { problem.rotary = {.cosines = table.view(), .sines = table.view()}; }
};

std::string message_of(const AttentionProblem& problem) {
  try {
    attend(problem);
  } catch (const InvalidArgument& error) {
    EXPECT_THROW(explain(problem), InvalidArgument);
    EXPECT_THROW(explain_backward(problem), InvalidArgument);
    return error.what();
  }
  return "no throw";
}

std::string message_with(const std::function<void(AttentionProblem&)>& change) {
  Sound sound;
  change(sound.problem);
  return message_of(sound.problem);
}

template <class... Parts>
auto says(const Parts&... parts) {
  return AllOf(StartsWith("[attend] "), HasSubstr(parts)...);
}

TEST(BadRotary, TheSoundOneIsAccepted) { EXPECT_EQ(message_of(Sound().problem), "no throw"); }

TEST(BadRotary, TablesGivenInHalves) {
  EXPECT_THAT(message_with([](auto& p) { p.rotary.sines = {}; }),
              says("rotary.cosines is given without rotary.sines"));
  EXPECT_THAT(message_with([](auto& p) { p.rotary.key_sines = p.rotary.sines; }),
              says("rotary.key_sines is given without rotary.key_cosines"));
  EXPECT_THAT(message_with([](auto& p) { p.rotary.key_cosines = p.rotary.cosines; }),
              says("rotary.key_cosines is given without rotary.key_sines"));
}

TEST(BadRotary, SettingsWithoutTables) {
  EXPECT_THAT(message_with([](auto& p) { p.rotary.cosines = {}; }),
              says("rotary.sines is set without rotary.cosines"));
  EXPECT_THAT(message_with([](auto& p) { p.rotary = {.key_cosines = p.rotary.cosines}; }),
              says("rotary.key_cosines is set without rotary.cosines"));
  EXPECT_THAT(message_with([](auto& p) { p.rotary = {.key_sines = p.rotary.cosines}; }),
              says("rotary.key_sines is set without rotary.cosines"));
  EXPECT_THAT(message_with([](auto& p) { p.rotary = {.pairing = RotaryPairing::interleaved}; }),
              says("rotary.pairing is set without rotary.cosines"));
  EXPECT_THAT(message_with([](auto& p) { p.rotary = {.keys_are_turned = true}; }),
              says("rotary.keys_are_turned is set without rotary.cosines"));
}

TEST(BadRotary, DtypesOfTables) {
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::int32, DType::boolean}) {
    const Tensor table = Tensor::zeros(dtype, {9, 3});
    EXPECT_THAT(message_with([&](auto& p) { p.rotary.cosines = p.rotary.sines = table.view(); }),
                says("rotary.cosines is " + std::string(name_of(dtype)), "float32 or float64"));
    EXPECT_THAT(message_with([&](auto& p) { p.rotary.sines = table.view(); }),
                says("rotary.sines is " + std::string(name_of(dtype))));
  }
  const Tensor wide = Tensor::zeros(DType::float64, {9, 3});
  EXPECT_THAT(message_with([&](auto& p) { p.rotary.sines = wide.view(); }),
              says("rotary.sines is float64, rotary.cosines float32"));
}

TEST(BadRotary, ShapesOfTables) {
  const auto with_table = [](const Shape& shape) {
    const Tensor table = Tensor::zeros(DType::float32, shape);
    return message_with([&](auto& p) { p.rotary.cosines = p.rotary.sines = table.view(); });
  };
  EXPECT_EQ(with_table({2, 9, 3}), "no throw");
  EXPECT_EQ(with_table({1, 9, 3}), "no throw");
  EXPECT_EQ(with_table({9, 4}), "no throw");
  EXPECT_THAT(with_table({9}), says("rotary.cosines (9,)", "(P, r/2), or (B, P, r/2) with B = 2"));
  EXPECT_THAT(with_table({3, 9, 3}), says("rotary.cosines (3,9,3)", "with B = 2"));
  EXPECT_THAT(with_table({1, 1, 9, 3}), says("rotary.cosines (1,1,9,3)"));
  EXPECT_THAT(with_table({9, 5}),
              says("rotary.cosines (9,5) turns 5 pairs, r = 10 columns", "between 2 and D = 8"));
  EXPECT_THAT(with_table({9, 0}), says("turns 0 pairs"));
  const Tensor other = Tensor::zeros(DType::float32, {9, 2});
  EXPECT_THAT(message_with([&](auto& p) { p.rotary.sines = other.view(); }),
              says("rotary.sines (9,2) must have the shape of rotary.cosines (9,3)"));
  EXPECT_THAT(
      message_with([&](auto& p) { p.rotary.key_cosines = p.rotary.key_sines = other.view(); }),
      says("rotary.key_cosines (9,2) turns 2 pairs, rotary.cosines (9,3) 3"));
}

TEST(BadRotary, HeadsOfOneColumnHaveNoPair) {
  Sound sound;
  const Tensor q = Tensor::zeros(DType::float32, {2, 1});
  sound.problem.q = sound.problem.k = sound.problem.v = q.view();
  EXPECT_THAT(message_of(sound.problem), says("between 2 and D = 1"));
}

TEST(BadRotary, PositionsBeyondTheTable) {
  const Tensor table = Tensor::zeros(DType::float32, {4, 3});
  EXPECT_THAT(message_with([&](auto& p) { p.rotary.cosines = p.rotary.sines = table.view(); }),
              says("query 2 of batch row 0 stands at position 4", "rotary.cosines has positions",
                   "P = 4", "longer table"));
  EXPECT_THAT(
      message_with([&](auto& p) { p.rotary.key_cosines = p.rotary.key_sines = table.view(); }),
      says("key 4 of batch row 0 stands at position 4", "rotary.key_cosines has", "P = 4"));
  const std::int64_t late[] = {0, 1, 2, 8, 9, 0};
  EXPECT_THAT(message_with([&](auto& p) { p.query_positions = View(late, {2, 3}); }),
              says("query 1 of batch row 1 stands at position 9", "P = 9"));
  const std::int32_t offset[] = {0, 7};
  EXPECT_THAT(message_with([&](auto& p) { p.query_offset = View(offset, {2}); }),
              says("query 2 of batch row 1 stands at position 9"));
  // What was turned before asks for nothing.
  EXPECT_EQ(message_with([&](auto& p) {
              p.rotary.key_cosines = p.rotary.key_sines = table.view();
              p.rotary.keys_are_turned = true;
            }),
            "no throw");
}

TEST(BadRotary, PositionsBeforeTheFirst) {
  const std::int64_t early[] = {0, -1, 0, 0, 0};
  EXPECT_THAT(message_with([&](auto& p) { p.key_positions = View(early, {5}); }),
              says("key 1 of batch row 0 stands at position -1", "must not be negative"));
  const Tensor q = Tensor::zeros(DType::float32, {2, 4, 7, 8});
  EXPECT_THAT(
      message_with([&](auto& p) { p.q = q.view(); }),
      says("query 0 of batch row 0 stands at position -2", "give query_positions", "top_left"));
  EXPECT_EQ(message_with([&](auto& p) {
              p.q = q.view();
              p.alignment = Alignment::top_left;
            }),
            "no throw");
}

TEST(BadRotary, TablesThatAnOutputOverlaps) {
  Sound sound;
  Tensor output(DType::float32, {2, 4, 3, 6});
  sound.problem.rotary.cosines = sound.problem.rotary.sines =
      View(output.raw(), DType::float32, {9, 3});
  try {
    attend(sound.problem, {.output = output.mutable_view()});
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), says("output overlaps rotary.cosines"));
  }
}

TEST(BadRotary, GivenTwiceToVariables) {
  const Sound sound;
  const Variable tokens(Tensor::zeros(DType::float32, {3, 8}));
  AttendVariableOptions options;
  options.rotary = {.cosines = sound.table, .sines = sound.table};
  EXPECT_NO_THROW(attend(tokens, tokens, tokens, options));
  options.rules.rotary.keys_are_turned = true;
  try {
    attend(tokens, tokens, tokens, options);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), says("rotary is given twice"));
  }
}

}  // namespace
}  // namespace volvelle::testing
