// `volvelle attend --scheme`: every scheme of the catalog, beside the same attention by the options
// and arrays that were there before schemes had names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <sstream>

#include "support/attend_document.h"
#include "volvelle/io/arrays.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle::testing {
namespace {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;
using ::testing::HasSubstr;

constexpr const char* kPlaces = "3,5,9";

Tensor waves(const Shape& shape, double step) {
  Tensor array(DType::float32, shape);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    array.data<float>()[i] = static_cast<float>(std::sin(step * static_cast<double>(i + 1)));
  }
  return array;
}

// Rows of four, in full.
std::string typed(const Tensor& rows) {
  std::ostringstream text;
  text.precision(9);
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    text << (i == 0 ? "" : i % 4 == 0 ? "; " : " ") << rows.data<float>()[i];
  }
  return text.str();
}

void append(Arguments& to, const Arguments& more) { to.insert(to.end(), more.begin(), more.end()); }

// Two heads, three tokens, four columns; and more arrays beside them.
NamedArrays problem_with(NamedArrays more) {
  NamedArrays arrays{
      {"q", waves({2, 3, 4}, 0.7)}, {"k", waves({2, 3, 4}, 1.1)}, {"v", waves({2, 3, 4}, 1.9)}};
  arrays.insert(arrays.end(), more.begin(), more.end());
  return arrays;
}

Json attended(const NamedArrays& arrays, const Arguments& options) {
  const ScratchFolder folder;
  write_arrays(folder / "problem.npz", arrays, {});
  Arguments arguments{folder / "problem.npz", "--positions", kPlaces};
  append(arguments, options);
  return attend_json(arguments)["output"];
}

std::string refused(const NamedArrays& arrays, const Arguments& options) {
  const ScratchFolder folder;
  write_arrays(folder / "problem.npz", arrays, {});
  Arguments arguments{"attend", folder / "problem.npz"};
  append(arguments, options);
  const CapturedRun run = captured_run(arguments);
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_EQ(run.out, "");
  return run.err;
}

void expect_same(const Json& actual, const Json& expected, const std::string& where) {
  const Json a = actual.flatten(), b = expected.flatten();
  ASSERT_EQ(a.size(), b.size()) << where;
  for (const auto& [place, number] : b.items()) {
    EXPECT_NEAR(a[place].get<double>(), number.get<double>(), 2e-6) << where << ' ' << place;
  }
}

// Cosines and sines of positions 0 to 9 for two pairs, each times a factor by position and pair.
NamedArrays tables(const char* cosines, const char* sines,
                   const std::function<double(int, int)>& factor) {
  Tensor cosine(DType::float32, Shape{10, 2}), sine(DType::float32, Shape{10, 2});
  for (int p = 0; p < 10; ++p) {
    for (int pair = 0; pair < 2; ++pair) {
      const double angle = p * std::pow(10000, -pair / 2.0);
      cosine.data<float>()[2 * p + pair] = static_cast<float>(factor(p, pair) * std::cos(angle));
      sine.data<float>()[2 * p + pair] = static_cast<float>(factor(p, pair) * std::sin(angle));
    }
  }
  return {{cosines, cosine}, {sines, sine}};
}

// Sun et al. 2022: queries times zeta^(n / scale), keys times zeta^(-m / scale).
NamedArrays fading_tables() {
  const auto decay = [](double side) {
    return [side](int position, int pair) {
      return std::pow((pair / 2.0 + 0.4) / 1.4, side * position / 8);
    };
  };
  NamedArrays both = tables("rotary_cosines", "rotary_sines", decay(1));
  const NamedArrays keys = tables("rotary_key_cosines", "rotary_key_sines", decay(-1));
  both.insert(both.end(), keys.begin(), keys.end());
  return both;
}

// A scheme with what it learns, and the same without its name.
struct InOtherWords {
  std::string scheme;
  NamedArrays learned;
  Arguments options;
  NamedArrays arrays;
  Arguments both = {};  // options of either
};

std::vector<InOtherWords> schemes_of_attention() {
  const NamedArrays buckets{{"bucket_table", waves({2, 8}, 2.3)}};
  const NamedArrays offsets{{"bias_table", waves({2, 5}, 2.3)}};
  const NamedArrays slopes{{"slopes", waves({2}, 0.3)}};
  const NamedArrays vectors{{"relative_keys", waves({3, 4}, 0.9)},
                            {"relative_queries", waves({3, 4}, 1.7)},
                            {"relative_values", waves({3, 4}, 2.9)}};
  return {
      {"none", {}, {}, {}},
      {"rotary(pairing=interleaved)", {}, {"--rotary", "interleaved"}, {}},
      {"rotary",
       {},
       {"--rotary", "split-half"},
       tables("rotary_cosines", "rotary_sines", [](int, int) { return 1.0; })},
      {"xpos(scale=8)", {}, {"--rotary", "split-half"}, fading_tables()},
      {"alibi", {}, {"--alibi"}, {}},
      {"alibi(learned=yes)", slopes, {}, slopes},
      {"t5(buckets=8, max=6)", buckets, {"--buckets", "two-way", "--max-distance", "6"}, buckets},
      {"t5(buckets=8, max=6)",
       buckets,
       {"--buckets", "one-way", "--max-distance", "6"},
       buckets,
       {"--causal"}},
      {"t5(buckets=8, direction=one-way)", buckets, {"--buckets", "one-way"}, buckets},
      {"clamped(max=2)", offsets, {}, offsets},
      {"relative(max=1, queries=yes, values=yes)", vectors, {}, vectors},
  };
}

// A scheme that is added to token vectors, and what it adds to those at 3, 5 and 9.
struct AddedToTokens {
  std::string scheme;
  Arguments learned;
  std::function<double(int position, int column)> adds;
};

std::vector<AddedToTokens> schemes_of_tokens() {
  std::string table;
  for (int i = 0; i < 40; ++i) table += std::to_string(i * i % 7) + (i % 4 == 3 ? ';' : ' ');
  table.pop_back();
  return {{"sinusoidal",
           {},
           [](int position, int column) {
             const double angle = position * std::pow(100, -(column / 2));
             return column % 2 == 0 ? std::sin(angle) : std::cos(angle);
           }},
          {"learned(rows=10)", {"--position-table", table}, [](int position, int column) {
             const int i = 4 * position + column;
             return static_cast<double>(i * i % 7);
           }}};
}

TEST(AttendSchemes, EachIsTheSameAttentionAsWithoutItsName) {
  const Json plain = attended(problem_with({}), {});
  for (const InOtherWords& one : schemes_of_attention()) {
    Arguments named = one.both, older = one.both;
    append(named, {"--scheme", one.scheme});
    append(older, one.options);
    const Json found = attended(problem_with(one.learned), named);
    expect_same(found, attended(problem_with(one.arrays), older), one.scheme);
    EXPECT_EQ(found == plain, one.scheme == "none") << one.scheme;
  }
}

TEST(AttendSchemes, ThoseOfTokensAddTheirVectorsBeforeTheProjections) {
  const Tensor tokens = waves({3, 4}, 0.4);
  const auto run = [&](const Tensor& x, const Arguments& more) {
    Arguments arguments{"--x",  typed(x),
                        "--wq", typed(waves({4, 4}, 0.8)),
                        "--wk", typed(waves({4, 4}, 1.3)),
                        "--wv", typed(waves({4, 4}, 2.2))};
    append(arguments, more);
    return attend_json(arguments)["output"];
  };
  for (const AddedToTokens& one : schemes_of_tokens()) {
    Tensor moved = waves({3, 4}, 0.4);
    const int places[] = {3, 5, 9};
    for (int t = 0; t < 3; ++t) {
      for (int c = 0; c < 4; ++c) {
        moved.data<float>()[4 * t + c] += static_cast<float>(one.adds(places[t], c));
      }
    }
    Arguments named{"--scheme", one.scheme, "--positions", kPlaces};
    append(named, one.learned);
    const Json found = run(tokens, named);
    expect_same(found, run(moved, {}), one.scheme);
    EXPECT_NE(found, run(tokens, {})) << one.scheme;
  }
}

TEST(AttendSchemes, NoneOfTheCatalogIsLeftOut) {
  std::set<std::string> tried, known;
  for (const auto& one : schemes_of_attention()) tried.insert(parse_positions(one.scheme).scheme);
  for (const auto& one : schemes_of_tokens()) tried.insert(parse_positions(one.scheme).scheme);
  for (const PositionEntry& entry : position_schemes()) known.insert(entry.name);
  EXPECT_EQ(tried, known);
}

TEST(AttendSchemes, WhatTheyLearnMustBeThereAndFit) {
  EXPECT_THAT(refused(problem_with({}), {"--scheme", "t5"}), HasSubstr("'bucket_table'"));
  EXPECT_THAT(refused(problem_with({}), {"--scheme", "alibi(learned=yes)"}), HasSubstr("'slopes'"));
  const NamedArrays buckets = problem_with({{"bucket_table", waves({2, 8}, 1)}});
  EXPECT_THAT(refused(buckets, {"--scheme", "t5"}), HasSubstr("(2,32)"));
  EXPECT_THAT(refused(buckets, {"--scheme", "t5(buckets=8)", "--buckets", "one-way"}),
              HasSubstr("--buckets"));
  EXPECT_THAT(refused(buckets, {"--scheme", "t5(buckets=8)", "--max-distance", "9"}),
              HasSubstr("--max-distance"));
  EXPECT_THAT(refused(buckets, {"--scheme", "alibi"}), HasSubstr("--scheme t5"));
  EXPECT_THAT(refused(buckets, {}), HasSubstr("needs --buckets"));
  const NamedArrays slopes = problem_with({{"slopes", waves({3}, 1)}});
  EXPECT_THAT(refused(slopes, {"--scheme", "alibi(learned=yes)"}), HasSubstr("(2,)"));
  EXPECT_THAT(refused(slopes, {"--scheme", "alibi"}), HasSubstr("slopes"));
}

}  // namespace
}  // namespace volvelle::testing
