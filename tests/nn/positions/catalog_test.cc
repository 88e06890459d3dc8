#include "volvelle/nn/positions/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using ::testing::HasSubstr;

template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "(nothing was refused)";
}

std::string layers_of(const char* text, std::int64_t layers) {
  std::string all;
  for (const PositionText& one : positions_by_layer(text, layers)) {
    all += (all.empty() ? "" : " | ") + to_text(one);
  }
  return all;
}

// Settings that a scheme cannot do without.
std::string shortest_text(const PositionEntry& entry) {
  return std::string(entry.name) == "learned" ? "learned(rows=16)" : entry.name;
}

TEST(PositionText, SaysTheSameAfterTheWayThroughText) {
  for (const char* text :
       {"none", "rotary", "alibi(learned=yes)",
        "rotary(base=500000, scaling=llama3, factor=8, low=1, high=4, original=8192)",
        "rotary(scaling=longrope, original=4, max=8, short=[1, 1], long=[2 2.5])"}) {
    EXPECT_EQ(to_text(parse_positions(text)), text);
  }
  EXPECT_EQ(to_text(parse_positions("  t5 ( buckets = 16 ,max=64 ) ")), "t5(buckets=16, max=64)");
  EXPECT_EQ(to_text(parse_positions("rotary()")), "rotary");
  EXPECT_EQ(parse_positions("rotary(long=[2, 2.5])").settings[0].value, "2, 2.5");
}

TEST(PositionText, RefusesWhatIsNotOfItsForm) {
  const auto said = [](const char* text) { return refusal([&] { parse_positions(text); }); };
  EXPECT_THAT(said("rotory"),
              HasSubstr("[positions] unknown scheme 'rotory'; did you mean 'rotary'?"));
  EXPECT_THAT(said(""), HasSubstr("column 1 of \"\": expected a scheme, found the end"));
  EXPECT_THAT(
      said("rotary(bse=3)"),
      HasSubstr("column 8 of \"rotary(bse=3)\": 'rotary' has no setting 'bse'; did you mean "
                "'base'?"));
  EXPECT_THAT(said("none(base=3)"), HasSubstr("has no setting 'base': it has none"));
  EXPECT_THAT(said("rotary(base=3, base=4)"), HasSubstr("column 16"));
  EXPECT_THAT(said("rotary(base=3, base=4)"), HasSubstr("'base' is given twice"));
  EXPECT_THAT(said("rotary(base)"), HasSubstr("expected '=', found ')'"));
  EXPECT_THAT(said("rotary(base=)"), HasSubstr("expected a value, found ')'"));
  EXPECT_THAT(said("rotary(base=3"), HasSubstr("expected ')', found the end"));
  EXPECT_THAT(said("rotary(long=[1, 2)"), HasSubstr("is no value"));
  EXPECT_THAT(said("rotary(long=[1 2"), HasSubstr("expected ']', found the end"));
  EXPECT_THAT(said("rotary | none"), HasSubstr("expected the end, found '| none'"));
  EXPECT_THAT(said("rotary(base=3) x"), HasSubstr("expected the end, found 'x'"));
}

TEST(PositionsByLayer, CountRepeatAndGoOnToTheEnd) {
  EXPECT_EQ(layers_of("rotary", 3), "rotary | rotary | rotary");
  EXPECT_EQ(layers_of("3: rotary | none", 5), "rotary | rotary | rotary | none | none");
  EXPECT_EQ(layers_of("rotary | alibi | none", 4), "rotary | alibi | none | none");
  EXPECT_EQ(layers_of("2: rotary(base=5) | 1: none", 3), "rotary(base=5) | rotary(base=5) | none");
  // A pattern goes round and may stop in the middle, as in Gemma 3.
  EXPECT_EQ(layers_of("(2: rotary | none)", 7),
            "rotary | rotary | none | rotary | rotary | none | rotary");
  EXPECT_EQ(layers_of("none | 2: (rotary | alibi) | none", 6),
            "none | rotary | alibi | rotary | alibi | none");
}

TEST(PositionsByLayer, RefuseWhatDoesNotFit) {
  const auto said = [](const char* text, std::int64_t layers) {
    return refusal([&] { positions_by_layer(text, layers); });
  };
  EXPECT_THAT(said("4: rotary | none", 4), HasSubstr("none is left for \"none\""));
  EXPECT_THAT(said("5: rotary | none", 4),
              HasSubstr("\"rotary\" is for 5 times 1, and 4 are left"));
  EXPECT_THAT(said("3: rotary", 4), HasSubstr("does not fit 4 layers: it is for 3"));
  EXPECT_THAT(said("x: rotary", 4), HasSubstr("'x' before ':' must be a number of layers"));
  EXPECT_THAT(said("0: rotary", 4), HasSubstr("must be a number of layers, 1 or more"));
  EXPECT_THAT(said("(rotary | none", 4), HasSubstr("lacks its ')'"));
  const std::string deep = std::string(100000, '(') + "rotary" + std::string(100000, ')');
  EXPECT_THAT(said(deep.c_str(), 4), HasSubstr("more than 8 brackets"));
  EXPECT_THAT(said("rotary |", 4), HasSubstr("expected a scheme"));
  EXPECT_THAT(said("rotary", 0), HasSubstr("layers=0 must be positive"));
}

TEST(PositionSchemes, HaveTheDoorOfTheirEntryAndCountTheirParameters) {
  for (const PositionEntry& entry : position_schemes()) {
    SCOPED_TRACE(entry.name);
    const auto scheme = make_positions(shortest_text(entry), {});
    const PositionFacts facts = scheme->facts();
    EXPECT_EQ(facts.door, entry.door);
    EXPECT_EQ(facts.parameters, scheme->parameter_count());
    EXPECT_FALSE(facts.cost.empty() || facts.cache.empty());
    // What is added to tokens knows places; all else knows offsets.
    EXPECT_EQ(facts.shift_keeps == ShiftKeeps::nothing, entry.door == PositionDoor::tokens);
  }
}

TEST(PositionSchemes, RefuseAModelThatTheyDoNotFit) {
  const auto said = [](const char* text, const PositionContext& context) {
    return refusal([&] { make_positions(text, context); });
  };
  EXPECT_THAT(said("rotary", {.width = 20, .heads = 4}), HasSubstr("must be an even number"));
  EXPECT_THAT(said("none", {.width = 20, .heads = 3}), HasSubstr("not a multiple of 3 heads"));
  EXPECT_THAT(said("none", {.width = 0}), HasSubstr("width=0 must be positive"));
  EXPECT_THAT(said("none", {.heads = 4, .key_heads = 3}), HasSubstr("H=4"));
  EXPECT_THAT(said("none", {.dtype = DType::bfloat16}), HasSubstr("not bfloat16"));
  EXPECT_THAT(said("learned", {}), HasSubstr("rows is missing"));
  EXPECT_THAT(refusal([] { make_positions(PositionText{.scheme = "no", .settings = {}}, {}); }),
              HasSubstr("unknown scheme 'no'"));
}

}  // namespace
}  // namespace volvelle
