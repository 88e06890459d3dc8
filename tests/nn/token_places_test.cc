#include "volvelle/nn/token_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nn/placed_tokens.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

std::vector<std::int64_t> numbers(const View& view) {
  const Tensor copy = converted(view, DType::int64);
  return {copy.data<std::int64_t>(), copy.data<std::int64_t>() + copy.size()};
}

std::string refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TokenPlaces, PositionsOfRowsCountRealTokens) {
  const std::int32_t lengths[] = {2, 0, 3};
  const View view(lengths, {3});
  EXPECT_THAT(numbers(positions_of_rows(view, 3, Padding::left).view()),
              ElementsAre(0, 0, 1, 0, 0, 0, 0, 1, 2));
  EXPECT_THAT(numbers(positions_of_rows(view, 3, Padding::right).view()),
              ElementsAre(0, 1, 0, 0, 0, 0, 0, 1, 2));
  EXPECT_THAT(refusal([&] { positions_of_rows(view, 2, Padding::left); }),
              HasSubstr("[positions_of_rows] length 3 of row 2 is not within [0, 2]"));
  const float broken[] = {1};
  EXPECT_THAT(refusal([&] { positions_of_rows(View(broken, {1}), 2, Padding::left); }),
              HasSubstr("must be integers"));
  EXPECT_THAT(refusal([&] { positions_of_rows({}, 2, Padding::left); }),
              HasSubstr("lengths are missing"));
  EXPECT_THAT(refusal([&] { positions_of_rows(View(lengths, {1, 3}), 3, Padding::left); }),
              HasSubstr("must be (B)"));
  EXPECT_THAT(refusal([&] { positions_of_rows(view, -1, Padding::left); }),
              HasSubstr("must not be negative"));
}

TEST(TokenPlaces, PositionsInSegmentsStartAgain) {
  const std::int32_t ids[] = {7, 7, 7, 2, 2, 7, /**/ 7, 1, 1, 1, 0, 0};
  EXPECT_THAT(numbers(positions_in_segments(View(ids, {2, 6})).view()),
              ElementsAre(0, 1, 2, 0, 1, 0, 0, 0, 1, 2, 0, 1));
  EXPECT_THAT(numbers(positions_in_segments(View(ids, {4})).view()), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(refusal([&] { positions_in_segments(View(ids, {1, 2, 3})); }),
              HasSubstr("must be (B,T) or (T)"));
}

// What int64 cannot hold must not turn into a small or a negative number.
TEST(TokenPlaces, NumbersBeyondInt64AreRefusedAsTheyAre) {
  const std::uint64_t one[] = {std::uint64_t{1} << 63}, two[] = {7, (std::uint64_t{1} << 63) + 1};
  const std::string largest = "9223372036854775807";
  EXPECT_THAT(refusal([&] { positions_of_rows(View(one, {1}), 2, Padding::left); }),
              HasSubstr("length " + largest + " of row 0"));
  EXPECT_THAT(refusal([&] { PlacedTokens({.lengths = View(one, {1})}, 1, 3); }),
              HasSubstr("length " + largest + " of row 0"));
  EXPECT_THAT(refusal([&] { PlacedTokens({.positions = View(two, {2})}, 1, 2); }),
              HasSubstr("positions: " + largest + " at index 1"));
  const Tensor positions = Tensor::zeros(DType::int64, {2});
  const TokenPlaces places{.positions = positions.view(), .segments = View(two, {2})};
  EXPECT_THAT(refusal([&] { PlacedTokens(places, 1, 2); }),
              HasSubstr("[token places] segments have an id from 2^63 - 1 on"));
  EXPECT_THAT(refusal([&] { positions_in_segments(View(two, {2})); }),
              HasSubstr("[positions_in_segments] segments have an id"));
}

TEST(TokenPlaces, GoByTheIndexWhereNothingElseIsSaid) {
  const PlacedTokens tokens({}, 2, 3);
  EXPECT_FALSE(tokens.attention_places().query_positions);
  EXPECT_EQ(tokens.attention_places().positions, 3);
  EXPECT_FALSE(tokens.attention_places().row_lengths);
  EXPECT_THAT(numbers(tokens.positions().view()), ElementsAre(0, 1, 2));
}

TEST(TokenPlaces, CountRealTokensOfPaddedRows) {
  const std::int64_t lengths[] = {2, 4};
  const PlacedTokens left({.lengths = View(lengths, {2}), .padding = Padding::left}, 2, 4);
  const AttentionPlaces places = left.attention_places();
  EXPECT_THAT(numbers(places.query_positions), ElementsAre(0, 0, 0, 1, 0, 1, 2, 3));
  EXPECT_THAT(numbers(places.row_lengths), ElementsAre(2, 4));
  AttentionProblem rules;
  left.exclude(rules);
  EXPECT_EQ(rules.padding, Padding::left);
  EXPECT_THAT(numbers(rules.key_lengths), ElementsAre(2, 4));

  // On the right a real token's index is its position.
  const PlacedTokens right({.lengths = View(lengths, {2})}, 2, 4);
  EXPECT_FALSE(right.attention_places().query_positions);
  EXPECT_THAT(numbers(right.attention_places().row_lengths), ElementsAre(2, 4));
  EXPECT_THAT(numbers(right.positions().view()), ElementsAre(0, 1, 0, 0, 0, 1, 2, 3));
}

// Positions end where real tokens do: padding takes none.
TEST(TokenPlaces, PaddingReachesNoPosition) {
  const std::int64_t lengths[] = {2, 3}, none[] = {0, 0};
  const PlacedTokens left({.lengths = View(lengths, {2}), .padding = Padding::left}, 2, 6);
  EXPECT_EQ(left.attention_places().positions, 3);
  const PlacedTokens empty({.lengths = View(none, {2}), .padding = Padding::left}, 2, 6);
  EXPECT_EQ(empty.attention_places().positions, 1);  // where padding stands

  // On the right by the index, unless the scheme ends before it.
  PlacedTokens right({.lengths = View(lengths, {2})}, 2, 6);
  for (const std::optional<std::int64_t> enough : {std::optional<std::int64_t>(), {6}}) {
    right.keep_padding_within(enough);
    EXPECT_EQ(right.attention_places().positions, 6);
    EXPECT_FALSE(right.attention_places().query_positions);
  }
  right.keep_padding_within(5);
  EXPECT_EQ(right.attention_places().positions, 3);
  EXPECT_THAT(numbers(right.attention_places().key_positions),
              ElementsAre(0, 1, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0));
  EXPECT_THAT(numbers(right.attention_places().row_lengths), ElementsAre(2, 3));
  PlacedTokens whole({}, 1, 6);
  whole.keep_padding_within(5);  // real tokens all: the scheme refuses them
  EXPECT_EQ(whole.attention_places().positions, 6);
}

TEST(TokenPlaces, TakeExplicitPositions) {
  const std::int32_t positions[] = {5, 9, 6, /**/ 0, 1, 70};
  const std::int64_t lengths[] = {2, 2};
  const PlacedTokens tokens({.positions = View(positions, {2, 3}), .lengths = View(lengths, {2})},
                            2, 3);
  EXPECT_THAT(numbers(tokens.positions().view()), ElementsAreArray(positions));
  EXPECT_EQ(tokens.attention_places().positions, 71);
  // Those of padding have reached nothing.
  EXPECT_THAT(numbers(tokens.attention_places().row_lengths), ElementsAre(10, 2));
  const PlacedTokens shared({.positions = View(positions, {3})}, 2, 3);
  EXPECT_THAT(numbers(shared.attention_places().row_lengths), ElementsAre(10));
}

TEST(TokenPlaces, RefuseWhatDoesNotFit) {
  const std::int64_t good[] = {0, 1, 2, 0}, negative[] = {0, -1, 2}, lengths[] = {4};
  const std::int64_t large[] = {0, std::int64_t{1} << 30, 2};
  const float broken[] = {0, 1, 2};
  const auto with = [](const TokenPlaces& places) {
    return refusal([&] { PlacedTokens(places, 1, 3); });
  };
  EXPECT_THAT(with({.positions = View(negative, {3})}),
              HasSubstr("[token places] positions: -1 at index 1 is not within [0, 2^30)"));
  EXPECT_THAT(with({.positions = View(large, {3})}), HasSubstr("1073741824 at index 1"));
  EXPECT_THAT(with({.positions = View(broken, {3})}), HasSubstr("must be integers"));
  EXPECT_THAT(with({.positions = View(good, {4})}), HasSubstr("must be (B,T)=(1,3) or (T)"));
  EXPECT_THAT(with({.positions = View(good, {2, 2})}), HasSubstr("must be (B,T)=(1,3) or (T)"));
  EXPECT_THAT(with({.segments = View(good, {3})}),
              HasSubstr("segments are given without positions"));
  EXPECT_THAT(with({.positions = View(good, {3}), .segments = View(broken, {3})}),
              HasSubstr("segments are float32; they must be integers"));
  EXPECT_THAT(with({.lengths = View(lengths, {1})}), HasSubstr("length 4 of row 0"));
  EXPECT_THAT(with({.lengths = View(good, {2})}), HasSubstr("must be (B)=(1)"));
  EXPECT_THAT(with({.lengths = View(broken, {1})}), HasSubstr("lengths are float32"));
  EXPECT_THAT(with({.padding = Padding::left}), HasSubstr("no lengths say"));
  EXPECT_EQ(with({.positions = View(good, {1, 3}), .segments = View(good, {3})}), "accepted");

  AttentionProblem rules;
  rules.key_lengths = View(good, {1});
  const PlacedTokens padded({.lengths = View(good + 1, {1})}, 1, 3);
  EXPECT_THAT(refusal([&] { padded.exclude(rules); }), HasSubstr("key_lengths are given twice"));
}

}  // namespace
}  // namespace volvelle
