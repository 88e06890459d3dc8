// Scalings that go by the length of a text: what `volvelle attend` finds for a row of a batch must
// be what it finds for the row alone.
#include <gtest/gtest.h>

#include <cmath>

#include "support/attend_document.h"
#include "volvelle/io/arrays.h"

namespace volvelle::testing {
namespace {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

constexpr const char* kDynamic = "rotary(scaling=dynamic, factor=4, original=4)";
constexpr const char* kLong =
    "rotary(scaling=longrope, original=4, max=64, short=[1, 1], long=[2, 4])";

// What a token of a row holds, the same whether it stands in a batch or alone.
float value_of(int array, std::int64_t row, std::int64_t token, std::int64_t column) {
  return static_cast<float>(std::sin(0.3 + array + 2.1 * static_cast<double>(row) +
                                     0.7 * static_cast<double>(token) +
                                     1.9 * static_cast<double>(column)));
}

// Tokens `first` to `first + count` of rows `row` to `row + rows`: one head, four columns.
Tensor tokens(int array, std::int64_t row, std::int64_t rows, std::int64_t first,
              std::int64_t count) {
  Tensor made(DType::float32, Shape{rows, 1, count, 4});
  float* to = made.data<float>();
  for (std::int64_t b = row; b < row + rows; ++b) {
    for (std::int64_t t = first; t < first + count; ++t) {
      for (std::int64_t c = 0; c < 4; ++c) *to++ = value_of(array, b, t, c);
    }
  }
  return made;
}

struct Span {
  std::int64_t first, count;
};

Json output(std::int64_t row, std::int64_t rows, Span queries, Span keys,
            const Arguments& options) {
  const ScratchFolder folder;
  write_arrays(folder / "rows.npz",
               {{"q", tokens(0, row, rows, queries.first, queries.count)},
                {"k", tokens(1, row, rows, keys.first, keys.count)},
                {"v", tokens(2, row, rows, keys.first, keys.count)}},
               {});
  Arguments arguments{folder / "rows.npz"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return attend_json(arguments)["output"];
}

TEST(AttendRows, ARowDoesNotTurnByTheLengthOfItsNeighbour) {
  for (const char* scheme : {kDynamic, kLong}) {
    const Json both =
        output(0, 2, {0, 2}, {0, 2}, {"--scheme", scheme, "--positions", "0 3; 0 63"});
    const Json near = output(0, 1, {0, 2}, {0, 2}, {"--scheme", scheme, "--positions", "0,3"});
    const Json far = output(1, 1, {0, 2}, {0, 2}, {"--scheme", scheme, "--positions", "0,63"});
    EXPECT_EQ(both[0], near[0]) << scheme;
    EXPECT_EQ(both[1], far[0]) << scheme;
    const Json steady =
        output(1, 1, {0, 2}, {0, 2}, {"--rotary", "split-half", "--positions", "0,63"});
    EXPECT_NE(far, steady) << scheme;  // the scaling does something
  }
}

TEST(AttendRows, OptionsOfRotaryDoTheSame) {
  const Arguments dynamic{"--rotary", "split-half", "--scaling", "dynamic",    "--factor",
                          "4",        "--original", "4",         "--positions"};
  const auto at = [&](const char* positions) {
    Arguments options = dynamic;
    options.emplace_back(positions);
    return options;
  };
  const Json both = output(0, 2, {0, 2}, {0, 2}, at("0 3; 0 63"));
  EXPECT_EQ(both[0], output(0, 1, {0, 2}, {0, 2}, at("0,3"))[0]);
  EXPECT_EQ(both[1], output(1, 1, {0, 2}, {0, 2}, at("0,63"))[0]);
}

TEST(AttendRows, PaddingIsNoLength) {
  for (const char* scheme : {kDynamic, kLong}) {
    // Row 0 has 3 of 6 tokens, on the left of its padding and on the right of it.
    const Json right = output(0, 2, {0, 6}, {0, 6}, {"--scheme", scheme, "--key-lengths", "3,6"});
    const Json alone = output(0, 1, {0, 3}, {0, 3}, {"--scheme", scheme});
    for (std::size_t t = 0; t < 3; ++t) EXPECT_EQ(right[0][0][t], alone[0][0][t]) << scheme;
    EXPECT_EQ(right[1], output(1, 1, {0, 6}, {0, 6}, {"--scheme", scheme})[0]) << scheme;

    const Json left = output(0, 2, {0, 6}, {0, 6},
                             {"--scheme", scheme, "--key-lengths", "3,6", "--padding", "left",
                              "--positions", "9 9 9 0 1 2; 0 1 2 3 4 5"});
    const Json end = output(0, 1, {3, 3}, {3, 3}, {"--scheme", scheme});
    for (std::size_t t = 0; t < 3; ++t) EXPECT_EQ(left[0][0][3 + t], end[0][0][t]) << scheme;
  }
}

TEST(AttendRows, QueriesThatStandAfterTheirKeysCount) {
  for (const char* scheme : {kDynamic, kLong}) {
    const Json both = output(0, 2, {0, 1}, {0, 6},
                             {"--scheme", scheme, "--key-lengths", "3,6", "--query-offset", "3,8"});
    const Json near = output(0, 1, {0, 1}, {0, 3}, {"--scheme", scheme, "--query-offset", "3"});
    const Json far = output(1, 1, {0, 1}, {0, 6}, {"--scheme", scheme, "--query-offset", "8"});
    EXPECT_EQ(both[0], near[0]) << scheme;
    EXPECT_EQ(both[1], far[0]) << scheme;
  }
}

}  // namespace
}  // namespace volvelle::testing
