// Every rule of a problem, broken once: the message names the rule and the values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "support/arrays.h"
#include "volvelle/attention/attend.h"
#include "volvelle/base/error.h"

namespace volvelle::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor zeros(const Shape& shape, DType dtype = DType::float32) {
  return Tensor::zeros(dtype, shape);
}

// A sound problem with B 2, H 4, G 2, T 3, S 5, D 8, E 6.
struct Sound {
  Tensor q = zeros({2, 4, 3, 8});
  Tensor k = zeros({2, 2, 5, 8});
  Tensor v = zeros({2, 2, 5, 6});
  AttentionProblem problem{.q = q.view(), .k = k.view(), .v = v.view()};
};

std::string message_of(const AttentionProblem& problem) {
  try {
    attend(problem);
  } catch (const InvalidArgument& error) {
    EXPECT_THROW(explain(problem), InvalidArgument);
    return error.what();
  }
  return "no throw";
}

// The message after one change to the sound problem.
std::string message_with(const std::function<void(AttentionProblem&)>& change) {
  Sound sound;
  change(sound.problem);
  return message_of(sound.problem);
}

template <class... Parts>
auto says(const Parts&... parts) {
  return AllOf(StartsWith("[attend] "), HasSubstr(parts)...);
}

TEST(BadProblem, TheSoundOneIsAccepted) { EXPECT_NO_THROW(attend(Sound().problem)); }

TEST(BadProblem, RelativeVectors) {
  const auto with = [](View AttentionProblem::* array, const Shape& shape,
                       DType dtype = DType::float32) {
    const Tensor vectors = zeros(shape, dtype);
    return message_with([&](AttentionProblem& p) { p.*array = vectors.view(); });
  };
  using P = AttentionProblem;
  EXPECT_EQ(with(&P::relative_keys, {5, 8}), "no throw");
  EXPECT_EQ(with(&P::relative_queries, {4, 5, 8}, DType::bfloat16), "no throw");
  EXPECT_EQ(with(&P::relative_values, {1, 6}), "no throw");
  EXPECT_THAT(with(&P::relative_keys, {4, 8}),
              says("relative_keys (4,8) has 4 vectors", "an odd number 2M+1"));
  EXPECT_THAT(with(&P::relative_queries, {0, 8}), says("relative_queries (0,8) has 0 vectors"));
  EXPECT_THAT(with(&P::relative_keys, {5, 6}),
              says("relative_keys (5,6) must have shape (2M+1,D) or (H,2M+1,D) with D=8 and H=4"));
  EXPECT_THAT(with(&P::relative_values, {5, 8}),
              says("relative_values (5,8) must have shape (2M+1,E) or (H,2M+1,E) with E=6"));
  EXPECT_THAT(with(&P::relative_queries, {2, 5, 8}), says("relative_queries (2,5,8)", "H=4"));
  EXPECT_THAT(with(&P::relative_keys, {1, 4, 5, 8}), says("relative_keys (1,4,5,8)"));
  EXPECT_THAT(with(&P::relative_keys, {8}), says("relative_keys (8,)"));
  EXPECT_THAT(with(&P::relative_values, {5, 6}, DType::int32),
              says("relative_values is int32; it must be float32"));
}

TEST(BadProblem, RelativeVectorsTooManyForTheirBytes) {
  const float zero = 0;
  EXPECT_THAT(message_with([&](AttentionProblem& p) {
                p.relative_keys =
                    View(&zero, DType::float32, {(std::int64_t{1} << 60) + 1, 8}, {0, 1});
              }),
              says("the bytes of H*(2M+1)*D do not fit 63 bits"));
}

TEST(BadProblem, RelativeVectorsTakeOffsetsWithinTheirPositions) {
  const Tensor vectors = zeros({5, 8});
  const std::int64_t far = std::int64_t{1} << 31;
  EXPECT_THAT(message_with([&](AttentionProblem& p) {
                p.relative_keys = vectors.view();
                p.query_offset = View(&far, DType::int64, {1});
              }),
              says("query_offset 2147483648", "relative vectors must lie within +-2^30"));
}

TEST(BadProblem, Dropout) {
  for (const double p : {-0.1, 1.0, 1.5, kNaN, kInfinity, -kInfinity}) {
    EXPECT_THAT(message_with([&](auto& problem) { problem.dropout = p; }),
                says("dropout is " + std::to_string(p), "a probability in [0, 1)"));
  }
  const float one = 0;
  const std::int64_t many = (std::int64_t{1} << 24) + 1;
  const View heads(&one, {many, 0, 1}, {0, 0, 0});
  AttentionProblem problem{.q = heads, .k = heads, .v = heads, .dropout = 0.5};
  EXPECT_THAT(message_of(problem), says("dropout takes B and H up to 2^24", "(16777217,0,1)"));
  const std::int64_t long_axis = (std::int64_t{1} << 34) + 1;
  problem.q = View(&one, {0, 1});
  problem.k = problem.v = View(&one, {long_axis, 1}, {0, 0});
  EXPECT_THAT(message_of(problem), says("T and S up to 2^34"));
  problem.dropout = 0;
  EXPECT_EQ(message_of(problem), "no throw");
}

TEST(BadProblem, MissingArrays) {
  EXPECT_THAT(message_with([](auto& p) { p.q = {}; }), says("q is missing"));
  EXPECT_THAT(message_with([](auto& p) { p.k = {}; }), says("k is missing"));
  EXPECT_THAT(message_with([](auto& p) { p.v = {}; }), says("v is missing"));
}

TEST(BadProblem, Ranks) {
  const Tensor flat = zeros({8});
  const Tensor five = zeros({1, 2, 4, 3, 8});
  const Tensor three = zeros({2, 5, 8});
  EXPECT_THAT(message_with([&](auto& p) { p.q = flat.view(); }),
              says("q (8,) must have rank 2 (T,D), 3 (H,T,D) or 4 (B,H,T,D)"));
  EXPECT_THAT(message_with([&](auto& p) { p.q = five.view(); }), says("q (1,2,4,3,8)"));
  EXPECT_THAT(message_with([&](auto& p) { p.k = three.view(); }),
              says("same rank", "q (2,4,3,8), k (2,5,8), v (2,2,5,6)"));
}

TEST(BadProblem, Dtypes) {
  const Tensor half = zeros({2, 2, 5, 8}, DType::float16);
  const Tensor whole = zeros({2, 2, 5, 6}, DType::int32);
  EXPECT_THAT(message_with([&](auto& p) { p.k = half.view(); }),
              says("q is float32, k float16, v float32", "convert"));
  EXPECT_THAT(message_with([&](auto& p) { p.v = whole.view(); }),
              says("v is int32", "float32, float64, float16 or bfloat16"));
}

TEST(BadProblem, ShapesThatDoNotFit) {
  const Tensor one = zeros({1, 2, 5, 8});
  const Tensor narrow = zeros({2, 2, 5, 7});
  const Tensor three = zeros({2, 3, 5, 8});
  const Tensor short_v = zeros({2, 2, 4, 6});
  const Tensor batch_v = zeros({3, 2, 5, 6});
  EXPECT_THAT(message_with([&](auto& p) { p.k = one.view(); }), says("B of q is 2 but of k 1"));
  EXPECT_THAT(message_with([&](auto& p) { p.v = batch_v.view(); }), says("B of q is 2 but of v 3"));
  EXPECT_THAT(message_with([&](auto& p) { p.k = narrow.view(); }), says("D of q is 8 but of k 7"));
  EXPECT_THAT(message_with([&](auto& p) { p.v = short_v.view(); }), says("S of k is 5 but of v 4"));
  EXPECT_THAT(message_with([&](auto& p) { p.k = three.view(); }), says("G of k is 3 but of v 2"));
}

TEST(BadProblem, HeadsThatAreNoMultiple) {
  const Tensor q = zeros({2, 12, 64, 32});
  const Tensor k = zeros({2, 5, 64, 32});
  EXPECT_EQ(message_of({.q = q.view(), .k = k.view(), .v = k.view()}),
            "[attend] H=12 is not a multiple of G=5 (q (2,12,64,32), k (2,5,64,32))");
}

TEST(BadProblem, AxesOfNoLength) {
  const Tensor no_heads = zeros({2, 0, 3, 8});
  const Tensor no_width = zeros({2, 4, 3, 0});
  const Tensor no_width_k = zeros({2, 2, 5, 0});
  const Tensor no_width_v = zeros({2, 2, 5, 0});
  EXPECT_THAT(message_with([&](auto& p) { p.q = no_heads.view(); }), says("H and G must be"));
  EXPECT_THAT(message_with([&](auto& p) {
                p.q = no_width.view();
                p.k = no_width_k.view();
              }),
              says("D and E must be"));
  EXPECT_THAT(message_with([&](auto& p) { p.v = no_width_v.view(); }), says("D and E must be"));
}

TEST(BadProblem, MemoryThatCannotBe) {
  EXPECT_THAT(message_with([](auto& p) { p.k = View(nullptr, DType::float32, {2, 2, 5, 8}); }),
              says("k (2,2,5,8)", "pointer is null"));
  EXPECT_THAT(message_with([](auto& p) {
                p.q = View(p.q.data(), DType::float32, {2, 4, 3, 8}, {1, INT64_MAX / 8, 1, 1});
              }),
              says("q (2,4,3,8) with strides", "63 bits"));
  EXPECT_THAT(message_with([](auto& p) {
                p.q = View(p.q.data(), DType::float32, {2, 4, 3, 8}, {INT64_MIN, 1, 1, 1});
              }),
              says("63 bits"));
  EXPECT_THAT(message_with([](auto& p) {
                p.q = View(p.q.data(), DType::float32, {2, 4, -3, 8}, {1, 1, 1, 1});
              }),
              says("q (2,4,-3,8) has a negative axis"));
}

TEST(BadProblem, SizesBeyond63Bits) {
  const std::int64_t huge = std::int64_t{1} << 30;
  const Tensor one = zeros({1});
  const auto broadcast = [&](const Shape& shape) {
    return View(one.raw(), DType::float32, shape, Axes::filled(4, 0));
  };
  EXPECT_THAT(message_of({.q = broadcast({huge, 1, huge, 8}),
                          .k = broadcast({huge, 1, 5, 8}),
                          .v = broadcast({huge, 1, 5, 8})}),
              says("do not fit 63 bits"));
  EXPECT_THAT(message_of({.q = broadcast({1, 1, std::int64_t{1} << 39, 8}),
                          .k = broadcast({1, 1, 5, 8}),
                          .v = broadcast({1, 1, 5, 8})}),
              says("T and S must not exceed 2^38"));
}

TEST(BadProblem, Numbers) {
  EXPECT_THAT(message_with([](auto& p) { p.scale = kNaN; }), says("scale is nan", "finite"));
  EXPECT_THAT(message_with([](auto& p) { p.scale = -kInfinity; }), says("scale is -inf"));
  EXPECT_THAT(message_with([](auto& p) { p.softcap = -1; }), says("softcap is -1"));
  EXPECT_THAT(message_with([](auto& p) { p.softcap = kNaN; }), says("softcap is nan"));
  EXPECT_THAT(message_with([](auto& p) { p.softcap = kInfinity; }), says("softcap is inf"));
}

TEST(BadProblem, NegativeExtents) {
  EXPECT_THAT(message_with([](auto& p) { p.window = -1; }), says("window -1 is negative"));
  EXPECT_THAT(message_with([](auto& p) { p.window_right = -2; }), says("window_right -2"));
  EXPECT_THAT(message_with([](auto& p) { p.prefix = -3; }), says("prefix -3"));
  EXPECT_THAT(message_with([](auto& p) { p.chunk = INT64_MIN; }),
              says("chunk -9223372036854775808"));
}

TEST(BadProblem, PrefixWithoutCausal) {
  EXPECT_THAT(message_with([](auto& p) { p.prefix = 2; }), says("prefix 2", "causal is not set"));
}

TEST(BadProblem, BiasesOfTheWrongKind) {
  const Tensor mask = zeros({3, 5}, DType::boolean);
  const Tensor off = zeros({4, 5});
  const Tensor deep = zeros({1, 1, 1, 3, 5});
  EXPECT_THAT(message_with([&](auto& p) { p.bias = mask.view(); }),
              says("bias (3,5) is bool", "goes into `keep`"));
  EXPECT_THAT(message_with([&](auto& p) { p.bias = off.view(); }),
              says("bias (4,5) does not broadcast to (B,H,T,S) = (2,4,3,5)"));
  EXPECT_THAT(message_with([&](auto& p) { p.bias = deep.view(); }), says("does not broadcast"));
}

TEST(BadProblem, OnePerHead) {
  const Tensor three = zeros({3});
  const Tensor whole = zeros({4}, DType::int32);
  EXPECT_THAT(message_with([&](auto& p) { p.slopes = three.view(); }),
              says("slopes (3,) must have shape (H) = (4,)"));
  EXPECT_THAT(message_with([&](auto& p) { p.slopes = whole.view(); }), says("slopes is int32"));
  EXPECT_THAT(message_with([&](auto& p) { p.sinks = three.view(); }), says("sinks (3,)"));
  EXPECT_THAT(message_with([&](auto& p) { p.sinks = whole.view(); }), says("sinks is int32"));
}

TEST(BadProblem, SinksThatTakeAll) {
  const Tensor nan = listed(DType::float32, {4}, {0, 1, kNaN, 0});
  const Tensor infinite = listed(DType::float16, {4}, {kInfinity, 1, 0, 0});
  EXPECT_THAT(message_with([&](auto& p) { p.sinks = nan.view(); }),
              says("sinks holds nan for head 2", "finite logit, or -inf"));
  EXPECT_THAT(message_with([&](auto& p) { p.sinks = infinite.view(); }),
              says("sinks holds inf for head 0"));
}

TEST(BadProblem, Tables) {
  const Tensor even = zeros({4, 6});
  const Tensor heads = zeros({3, 7});
  const Tensor whole = zeros({4, 7}, DType::int8);
  EXPECT_THAT(message_with([&](auto& p) { p.bias_table = even.view(); }),
              says("bias_table (4,6) must have an odd width"));
  EXPECT_THAT(message_with([&](auto& p) { p.bias_table = heads.view(); }),
              says("bias_table (3,7) must have shape (H, entries) with H = 4"));
  EXPECT_THAT(message_with([&](auto& p) { p.bias_table = whole.view(); }),
              says("bias_table is int8"));
}

TEST(BadProblem, BucketTables) {
  const Tensor table = zeros({4, 8});
  const Tensor odd = zeros({4, 7});
  const Tensor one = zeros({4, 1});
  const Tensor two = zeros({4, 2});
  const Tensor whole = zeros({4, 8}, DType::int8);
  const auto with = [&](const Tensor& t, Buckets kind, std::int64_t distance) {
    return message_with([&](auto& p) {
      p.bucket_table = t.view();
      p.buckets = kind;
      p.max_distance = distance;
    });
  };
  EXPECT_EQ(with(table, Buckets::two_way, 3), "no throw");
  EXPECT_EQ(with(odd, Buckets::one_way, 4), "no throw");
  EXPECT_THAT(with(table, Buckets::none, 128), says("needs buckets: one_way or two_way"));
  EXPECT_THAT(with(whole, Buckets::one_way, 128), says("bucket_table is int8"));
  EXPECT_THAT(with(odd, Buckets::two_way, 128), says("7 buckets", "even count"));
  EXPECT_THAT(with(two, Buckets::two_way, 128), says("2 buckets", "at least 4"));
  EXPECT_THAT(with(one, Buckets::one_way, 128), says("1 buckets", "at least 2"));
  EXPECT_THAT(with(table, Buckets::two_way, 2), says("max_distance 2 must exceed the 2"));
  EXPECT_THAT(with(table, Buckets::one_way, 4), says("max_distance 4 must exceed the 4"));
  EXPECT_THAT(message_with([](auto& p) { p.buckets = Buckets::one_way; }),
              says("without a bucket_table"));
  EXPECT_THAT(message_with([](auto& p) { p.max_distance = 64; }), says("without a bucket_table"));
}

TEST(BadProblem, Positions) {
  const Tensor floats = zeros({2, 3});
  const Tensor wrong = zeros({2, 4}, DType::int64);
  Tensor far = zeros({2, 5}, DType::int64);
  far.data<std::int64_t>()[8] = (std::int64_t{1} << 30) + 1;
  EXPECT_THAT(message_with([&](auto& p) { p.query_positions = floats.view(); }),
              says("query_positions is float32", "integer"));
  EXPECT_THAT(message_with([&](auto& p) { p.query_positions = wrong.view(); }),
              says("query_positions (2,4) must have shape (B,T) = (2,3)"));
  EXPECT_THAT(message_with([&](auto& p) { p.key_positions = wrong.view(); }),
              says("key_positions (2,4) must have shape (B,S) = (2,5)"));
  EXPECT_THAT(message_with([&](auto& p) { p.key_positions = floats.view(); }),
              says("key_positions is float32"));
  EXPECT_THAT(message_with([&](auto& p) { p.key_positions = far.view(); }),
              says("key_positions holds 1073741825 at (1,3)", "+-2^30"));
  Tensor far_query = zeros({2, 3}, DType::uint64);
  far_query.data<std::uint64_t>()[1] = UINT64_MAX;
  EXPECT_THAT(message_with([&](auto& p) { p.query_positions = far_query.view(); }),
              says("query_positions holds", "at (0,1)"));
}

TEST(BadProblem, Offsets) {
  const Tensor floats = zeros({2});
  const Tensor three = zeros({3}, DType::int64);
  const Tensor good = zeros({2}, DType::int64);
  Tensor far = listed(DType::int64, {2}, {0, 0x1p30 + 1});
  Tensor beyond = listed(DType::int64, {2}, {-0x1p41, 0});
  const Tensor slopes = zeros({4});
  EXPECT_THAT(message_with([&](auto& p) { p.query_offset = floats.view(); }),
              says("query_offset is float32"));
  EXPECT_THAT(message_with([&](auto& p) { p.query_offset = three.view(); }),
              says("query_offset (3,) must have shape (B) = (2,)"));
  EXPECT_THAT(message_with([&](auto& p) {
                p.query_offset = good.view();
                p.alignment = Alignment::top_left;
              }),
              says("top_left and query_offset contradict"));
  EXPECT_THAT(message_with([&](auto& p) {
                p.query_offset = far.view();
                p.slopes = slopes.view();
              }),
              says("query_offset 1073741825 of batch row 1", "+-2^30"));
  EXPECT_THAT(message_with([&](auto& p) {
                p.query_offset = beyond.view();
                p.window = std::int64_t{1} << 40;
              }),
              says("query_offset -2199023255552 of batch row 0", "+-2^40"));
  EXPECT_EQ(message_with([&](auto& p) { p.query_offset = beyond.view(); }), "no throw");
}

TEST(BadProblem, KeyLengths) {
  const Tensor three = zeros({3}, DType::int32);
  const Tensor floats = zeros({2});
  const Tensor above = listed(DType::int32, {2}, {5, 6});
  const Tensor below = listed(DType::int32, {2}, {-1, 5});
  EXPECT_THAT(message_with([&](auto& p) { p.key_lengths = three.view(); }),
              says("key_lengths (3,) must have shape (B) = (2,)"));
  EXPECT_THAT(message_with([&](auto& p) { p.key_lengths = floats.view(); }),
              says("key_lengths is float32"));
  EXPECT_THAT(message_with([&](auto& p) { p.key_lengths = above.view(); }),
              says("key_lengths holds 6 for batch row 1", "between 0 and S=5"));
  EXPECT_THAT(message_with([&](auto& p) { p.key_lengths = below.view(); }),
              says("key_lengths holds -1 for batch row 0"));
  EXPECT_THAT(message_with([](auto& p) { p.padding = Padding::left; }),
              says("padding is set without key_lengths"));
}

TEST(BadProblem, Segments) {
  const Tensor query = zeros({2, 3}, DType::int32);
  const Tensor key = zeros({2, 5}, DType::int32);
  const Tensor floats = zeros({2, 5});
  EXPECT_THAT(message_with([&](auto& p) { p.query_segments = query.view(); }),
              says("query_segments is given alone"));
  EXPECT_THAT(message_with([&](auto& p) { p.key_segments = key.view(); }),
              says("key_segments is given alone"));
  EXPECT_THAT(message_with([&](auto& p) {
                p.query_segments = query.view();
                p.key_segments = floats.view();
              }),
              says("key_segments is float32"));
  EXPECT_THAT(message_with([&](auto& p) {
                p.query_segments = floats.view();
                p.key_segments = key.view();
              }),
              says("query_segments is float32"));
  EXPECT_THAT(message_with([&](auto& p) {
                p.query_segments = key.view();
                p.key_segments = key.view();
              }),
              says("query_segments (2,5) must have shape (B,T) = (2,3)"));
  Tensor huge = zeros({2, 5}, DType::uint64);
  huge.data<std::uint64_t>()[6] = UINT64_MAX;
  EXPECT_THAT(message_with([&](auto& p) {
                p.query_segments = query.view();
                p.key_segments = huge.view();
              }),
              says("key_segments holds", "at (1,1)", "below 2^63"));
}

TEST(BadProblem, MasksOfTheWrongKind) {
  const Tensor floats = zeros({3, 5});
  const Tensor off = zeros({2, 5}, DType::boolean);
  Tensor two = zeros({2, 1, 3, 5}, DType::int64);
  two.data<std::int64_t>()[2 * 5 + 15 + 4] = 2;
  Tensor minus = zeros({5}, DType::int8);
  minus.data<std::int8_t>()[3] = -1;
  EXPECT_THAT(message_with([&](auto& p) { p.keep = floats.view(); }),
              says("keep (3,5) is float32", "additive bias", "`bias`"));
  EXPECT_THAT(message_with([&](auto& p) { p.keep = off.view(); }),
              says("keep (2,5) does not broadcast"));
  EXPECT_THAT(message_with([&](auto& p) { p.keep = two.view(); }),
              says("keep holds 2 at (1,0,2,4)", "0 and 1"));
  EXPECT_THAT(message_with([&](auto& p) { p.keep = minus.view(); }), says("keep holds -1 at (3,)"));
  const View strided(two.raw(), DType::int64, {3, 5}, {10, 1});
  EXPECT_THAT(message_with([&](auto& p) { p.keep = strided; }), "no throw");
  const View over_it(two.raw(), DType::int64, {3, 3}, {5, 7});
  const Tensor k = zeros({2, 2, 3, 8}), v = zeros({2, 2, 3, 6});
  two.data<std::int64_t>()[2 * 5 + 2 * 7] = 3;
  EXPECT_THAT(message_with([&](auto& p) {
                p.k = k.view();
                p.v = v.view();
                p.keep = over_it;
              }),
              says("keep holds 3 at (2,2)"));
}

TEST(BadProblem, Threads) {
  Sound sound;
  EXPECT_THROW(attend(sound.problem, AttentionRequest{}, {.threads = -1}), InvalidArgument);
}

}  // namespace
}  // namespace volvelle::testing
