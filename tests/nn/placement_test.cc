#include "volvelle/nn/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    parse_placement(text);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "(accepted)";
}

std::string refusal_by_layer(const std::string& text, std::int64_t layers) {
  try {
    placements_by_layer(text, layers);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(Placement, TheTableHasEveryName) {
  std::vector<std::string> names;
  for (const PlacementEntry& entry : norm_placements()) names.emplace_back(entry.name);
  EXPECT_THAT(names, ElementsAre("pre", "post", "sandwich", "reordered", "parallel",
                                 "parallel-two-norms", "deepnorm", "none"));
}

// Text, data and text again; what the table shows is what a parser makes of it.
TEST(Placement, EveryFormulaOfTheTableComesBackAsItIsWritten) {
  for (const PlacementEntry& entry : norm_placements()) {
    EXPECT_EQ(to_text(parse_placement(entry.name)), entry.slots) << entry.name;
    EXPECT_EQ(to_text(parse_placement(entry.slots)), entry.slots) << entry.name;
  }
}

TEST(Placement, AnySlotsComeBackAsTheyWereWritten) {
  for (const char* slots :
       {"rms_norm(0.5 * x + 0.25 * layer_norm(feed_forward(n)) + attention(n)); x + "
        "attention(layer_norm(x))",
        "x + 0.5 * feed_forward(norm(x)); x + attention(norm(x)); norm(x + 0.5 * "
        "feed_forward(norm(x)))",
        "0 * x + -1.5 * attention(x)", "layer_norm(alpha * x + norm(attention(rms_norm(x))))",
        "1e-07 * x + 0.1 * attention(n)"}) {
    EXPECT_EQ(to_text(parse_placement(slots)), slots);
  }
}

TEST(Placement, BlanksDoNotMatter) {
  EXPECT_EQ(to_text(parse_placement("  norm( 2*x+attention( norm ( x ) ) ) ;x+feed_forward(x)\n")),
            "norm(2 * x + attention(norm(x))); x + feed_forward(x)");
}

TEST(Placement, SlotsAreWhatTheFormulaSays) {
  const NormPlacement placement = parse_placement(
      "rms_norm(0.5 * x + 0.25 * layer_norm(feed_forward(n)) + attention(n)); "
      "alpha * x + attention(norm(x))");
  ASSERT_EQ(placement.steps.size(), 2u);
  const PlacementStep& first = placement.steps[0];
  EXPECT_EQ(first.stream_factor, 0.5);
  EXPECT_EQ(first.stream, NormSlot::rms);
  ASSERT_EQ(first.branches.size(), 2u);
  EXPECT_EQ(first.branches[0].sublayer, Sublayer::feed_forward);
  EXPECT_EQ(first.branches[0].factor, 0.25);
  EXPECT_EQ(first.branches[0].after, NormSlot::layer);
  EXPECT_TRUE(first.branches[0].shared);
  EXPECT_EQ(first.branches[1].sublayer, Sublayer::attention);
  EXPECT_EQ(first.branches[1].factor, 1);
  EXPECT_TRUE(first.branches[1].shared);
  const PlacementStep& second = placement.steps[1];
  EXPECT_FALSE(second.stream_factor.has_value());
  EXPECT_EQ(second.stream, NormSlot::none);
  EXPECT_EQ(second.branches[0].before, NormSlot::usual);
  EXPECT_FALSE(second.branches[0].shared);
}

TEST(Placement, ANameThatIsNotThereIsRefusedWithTheNearest) {
  EXPECT_THAT(refusal("prre"), AllOf(HasSubstr("[placement] unknown placement 'prre'"),
                                     HasSubstr("did you mean 'pre'?"), HasSubstr("deepnorm"),
                                     HasSubstr("x + attention(norm(x))")));
  EXPECT_THAT(refusal("sandwhich"), HasSubstr("did you mean 'sandwich'?"));
  EXPECT_THAT(refusal(""), HasSubstr("unknown placement ''"));
}

TEST(Placement, WhatIsNoFormulaIsRefusedWithItsColumn) {
  EXPECT_THAT(refusal("x + atention(x)"),
              AllOf(HasSubstr("column 5 of \"x + atention(x)\""), HasSubstr("unknown word"),
                    HasSubstr("did you mean 'attention'?")));
  EXPECT_THAT(refusal("x + attention(norm(y))"), HasSubstr("unknown word 'y'"));
  EXPECT_THAT(refusal("attention(x) + x"), AllOf(HasSubstr("column 1"), HasSubstr("first term")));
  EXPECT_THAT(refusal("x + attention(x) +"), HasSubstr("found the end"));
  EXPECT_THAT(refusal("x + attention(x);"), HasSubstr("found the end"));
  EXPECT_THAT(refusal("x + attention(x) x"), HasSubstr("'+', ';' or the end, found 'x'"));
  EXPECT_THAT(refusal("norm(x + attention(x)"), HasSubstr("expected ')', found the end"));
  EXPECT_THAT(refusal("x + attention(norm(n))"), HasSubstr("expected x"));
  EXPECT_THAT(refusal("x + attention()"), HasSubstr("expected x, n or norm(x)"));
  EXPECT_THAT(refusal("x + norm(x)"), HasSubstr("attention(..) or feed_forward(..)"));
  EXPECT_THAT(refusal("2 x + attention(x)"), HasSubstr("expected '*'"));
  EXPECT_THAT(refusal("1e999 * x + attention(x)"), HasSubstr("finite"));
  EXPECT_THAT(refusal("x + alpha * attention(x)"), HasSubstr("attention(..) or feed_forward(..)"));
  EXPECT_THAT(refusal("x + (attention)(x)"), HasSubstr("attention(..) or feed_forward(..)"));
}

TEST(Placement, MayDifferByLayer) {
  const auto texts = [](const char* text, std::int64_t layers) {
    std::vector<std::string> made;
    for (const NormPlacement& placement : placements_by_layer(text, layers)) {
      made.push_back(to_text(placement).substr(0, 8));
    }
    return made;
  };
  EXPECT_THAT(texts("post", 2), ElementsAre("norm(x +", "norm(x +"));
  EXPECT_THAT(texts("2: post | pre", 4),
              ElementsAre("norm(x +", "norm(x +", "x + atte", "x + atte"));
  EXPECT_THAT(texts("0.5 * x + attention(x) | 2:pre |1 : post", 4),
              ElementsAre("0.5 * x ", "x + atte", "x + atte", "norm(x +"));
  EXPECT_THAT(texts("(2: post | pre)", 4),
              ElementsAre("norm(x +", "norm(x +", "x + atte", "norm(x +"));
  EXPECT_THAT(refusal_by_layer("(post | pre", 3), HasSubstr("[placement] \"(post | pre\" lacks"));
  EXPECT_THAT(refusal_by_layer("3: post | pre", 3), HasSubstr("does not fit 3 layers"));
  EXPECT_THAT(refusal_by_layer("4: post", 3), HasSubstr("does not fit 3 layers"));
  EXPECT_THAT(refusal_by_layer("2: post", 3), HasSubstr("does not fit 3 layers: it is for 2"));
  EXPECT_THAT(refusal_by_layer("0: post | pre", 3), HasSubstr("number of layers"));
  EXPECT_THAT(refusal_by_layer("many: post", 3), HasSubstr("'many' before ':'"));
  EXPECT_THAT(refusal_by_layer("post | prr", 3), HasSubstr("did you mean 'pre'?"));
}

TEST(Placement, OnlyANormOnTheStreamLeavesItNormalised) {
  const auto leaves = [](const char* text) {
    return leaves_stream_normalised(parse_placement(text));
  };
  EXPECT_TRUE(leaves("post"));
  EXPECT_TRUE(leaves("deepnorm"));
  for (const char* name : {"pre", "sandwich", "reordered", "parallel", "none"}) {
    EXPECT_FALSE(leaves(name)) << name;
  }
  EXPECT_FALSE(leaves("norm(x + attention(x)); x + feed_forward(norm(x))"));
}

TEST(Placement, TheFormulaSaysWhatFollowsTheLastBlock) {
  EXPECT_EQ(placement_formula("post"), "norm(x + attention(x)); norm(x + feed_forward(x))");
  EXPECT_EQ(placement_formula("pre"),
            "x + attention(norm(x)); x + feed_forward(norm(x)); after the last block norm(x)");
}

// alpha and beta of table 2 of the paper for 24 layers: 48^(1/4), 192^(-1/4).
TEST(Placement, DeepNormsFactorsArePapers) {
  const DepthFactors factors = depth_factors(24);
  EXPECT_NEAR(factors.alpha, 2.6321480259, 1e-9);
  EXPECT_NEAR(factors.beta, 0.2686424829, 1e-9);
  EXPECT_TRUE(has_depth_factor(parse_placement("deepnorm")));
  EXPECT_FALSE(has_depth_factor(parse_placement("post")));
}

}  // namespace
}  // namespace volvelle
