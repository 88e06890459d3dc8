#include "volvelle/base/numpy_generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/seed_sequence.h"
#include "base/ziggurat_tables.h"
#include "support/random_vectors.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using testing::Crc32;
using testing::hex_of;
using testing::random_vectors;

const nlohmann::json& vectors() { return random_vectors()["numpy"]; }

std::string decimal(Pcg64::Wide number) {
  std::string digits;
  do digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(number % 10)));
  while ((number /= 10) != 0);
  return digits;
}

std::vector<std::uint64_t> seeds_of(const nlohmann::json& entropy) {
  if (entropy.is_array()) return entropy.get<std::vector<std::uint64_t>>();
  return {entropy.get<std::uint64_t>()};
}

TEST(NumpyGenerator, SeedsAsSeedSequenceDoes) {
  ASSERT_EQ(vectors()["seed_sequence"].size(), 6u);
  for (const auto& row : vectors()["seed_sequence"]) {
    const auto seeds = seeds_of(row["entropy"]);
    const SeedSequence sequence(entropy_words(seeds));
    EXPECT_EQ(std::vector(sequence.pool().begin(), sequence.pool().end()),
              row["pool"].get<std::vector<std::uint32_t>>());
    std::vector<std::string> words;
    for (const auto word : sequence.generate(4)) words.push_back(std::to_string(word));
    EXPECT_EQ(words, row["generate_state_4_uint64"].get<std::vector<std::string>>());

    NumpyGenerator generator{std::span<const std::uint64_t>(seeds)};
    EXPECT_EQ(decimal(generator.bits().state()), row["pcg64_state"]);
    EXPECT_EQ(decimal(generator.bits().increment()), row["pcg64_inc"]);
    std::vector<std::string> raw;
    for (int i = 0; i < 4; ++i) raw.push_back(std::to_string(generator.word64()));
    EXPECT_EQ(raw, row["raw_uint64_first4"].get<std::vector<std::string>>());
  }
}

TEST(NumpyGenerator, OneSeedIsAListOfOne) {
  const std::vector<std::uint64_t> list{42};
  EXPECT_EQ(NumpyGenerator(42).word64(),
            NumpyGenerator(std::span<const std::uint64_t>(list)).word64());
}

TEST(NumpyGenerator, TablesHaveThePublishedChecksums) {
  const auto& tables = vectors()["ziggurat_tables"];
  const auto crc = [](const auto& table) {
    Crc32 sum;
    sum.add(table);
    return sum.hex();
  };
  EXPECT_EQ(crc(kZigguratInside), tables["crc32_k_le_uint64"]);
  EXPECT_EQ(crc(kZigguratWidth), tables["crc32_w"]);
  EXPECT_EQ(crc(kZigguratHeight), tables["crc32_f"]);
}

std::vector<double> normals(std::uint64_t seed, std::size_t count) {
  std::vector<double> out(count);
  NumpyGenerator(seed).normal(out);
  return out;
}

TEST(NumpyGenerator, NormalsHaveThePublishedBits) {
  const auto& rows = vectors()["standard_normal"];
  EXPECT_EQ(hex_of(normals(0, 64)), rows["default_rng(0), 64"]);
  EXPECT_EQ(hex_of(normals(42, 16)), rows["default_rng(42), 16"]);
  EXPECT_EQ(hex_of(normals(12345678901234567, 8)), rows["default_rng(12345678901234567), 8"]);
}

TEST(NumpyGenerator, AMillionNormalsHaveThePublishedChecksum) {
  const auto& expected = vectors()["default_rng(0).standard_normal(1000000)"];
  const auto numbers = normals(0, 1000000);
  Crc32 crc;
  crc.add(numbers);
  EXPECT_EQ(crc.hex(), expected["crc32_le_binary64"]);
  EXPECT_EQ(hex_of(std::span(numbers).last(1)), expected["last"]);
}

TEST(NumpyGenerator, NormalsMeetTailWedgeAndRejection) {
  const auto numbers = normals(0, 13326);
  ASSERT_EQ(vectors()["branch_events_default_rng(0)"].size(), 12u);
  for (const auto& event : vectors()["branch_events_default_rng(0)"]) {
    EXPECT_EQ(hex_of(std::span(numbers).subspan(event["index"].get<std::size_t>(), 1)),
              event["value"])
        << event;
  }
}

TEST(NumpyGenerator, UniformsHaveThePublishedBits) {
  std::vector<double> doubles(8);
  NumpyGenerator(0).uniform(doubles);
  EXPECT_EQ(hex_of(doubles), vectors()["random default_rng(0), 8"]);
  std::vector<float> floats(6);
  NumpyGenerator(0).uniform(floats);
  EXPECT_EQ(hex_of(floats), vectors()["random float32 default_rng(0), 6"]);
}

std::vector<std::int64_t> integers(NumpyGenerator& generator, std::size_t count, std::int64_t low,
                                   std::int64_t high) {
  std::vector<std::int64_t> out(count);
  generator.integers(out, low, high);
  return out;
}

TEST(NumpyGenerator, IntegersAreThePublishedOnes) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> ranges = {
      {0, 10}, {0, 2}, {-5, 6}, {0, 3000000000}, {0, 4294967296}, {0, 10000000000000}};
  std::size_t seen = 0;
  for (const auto& [low, high] : ranges) {
    const std::string name =
        "integers default_rng(0), (" + std::to_string(low) + ", " + std::to_string(high) + "), ";
    for (const auto& [key, values] : vectors().items()) {
      if (!key.starts_with(name)) continue;
      NumpyGenerator generator(0);
      EXPECT_EQ(integers(generator, values.size(), low, high),
                values.get<std::vector<std::int64_t>>())
          << key;
      ++seen;
    }
  }
  EXPECT_EQ(seen, ranges.size());
  NumpyGenerator generator(0), untouched(0);
  EXPECT_EQ(integers(generator, 3, 7, 8), (std::vector<std::int64_t>{7, 7, 7}));  // draws nothing
  EXPECT_EQ(generator.word64(), untouched.word64());
}

TEST(NumpyGenerator, AHalfWordWaitsWhileOthersAreDrawn) {
  const auto& calls = vectors()["mixed default_rng(0)"];
  NumpyGenerator generator(0);
  EXPECT_EQ(integers(generator, 3, 0, 10), calls[0][1].get<std::vector<std::int64_t>>());
  std::vector<double> two(2), one(1);
  generator.normal(two);
  EXPECT_EQ(hex_of(two), calls[1][1]);
  EXPECT_EQ(integers(generator, 3, 0, 10), calls[2][1].get<std::vector<std::int64_t>>());
  generator.uniform(one);
  EXPECT_EQ(hex_of(one), calls[3][1]);
}

// The document's second program: a stream of length 1 to which every layer adds a branch of
// length 1.
TEST(NumpyGenerator, TheDocumentsStreamGrowsAsPrinted) {
  NumpyGenerator generator(0);
  const auto length = [](const std::vector<double>& numbers) {
    double squares = 0;
    for (const double number : numbers) squares += number * number;
    return std::sqrt(squares);
  };
  std::vector<double> stream(64), branch(64);
  const auto& lengths = random_vectors()["program2"]["stream_length_after_layer"];
  ASSERT_EQ(lengths.size(), 4u);
  for (int layer = 0; layer <= 24; ++layer) {
    generator.normal(branch);
    const double scale = length(branch);
    for (std::size_t i = 0; i < stream.size(); ++i) stream[i] += branch[i] / scale;
    const auto expected = lengths.find(std::to_string(layer));
    if (expected == lengths.end()) continue;
    EXPECT_NEAR(length(stream), expected->get<double>(), 1e-12) << layer;
  }
}

TEST(NumpyGenerator, FloatsAndRangesFollowTheirFormulas) {
  std::vector<double> doubles(40), ranged(40);
  std::vector<float> floats(40), units(40);
  NumpyGenerator(3).normal(doubles, 0.5, 0.02);
  NumpyGenerator(3).normal(floats, 0.5, 0.02);
  const auto standard = normals(3, 40);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(doubles[i], 0.5 + 0.02 * standard[i], 1e-15);
    EXPECT_EQ(floats[i], static_cast<float>(doubles[i]));
  }
  NumpyGenerator(3).uniform(units);
  NumpyGenerator(3).uniform(floats, -1, 1);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(floats[i], -1.0f + 2.0f * units[i]);
  NumpyGenerator(3).uniform(doubles);
  NumpyGenerator(3).uniform(ranged, -1, 1);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(ranged[i], -1 + 2 * doubles[i]);
}

TEST(NumpyGenerator, BadArgumentsAreRefused) {
  NumpyGenerator generator(0);
  std::vector<double> doubles(2);
  std::vector<float> floats(2);
  std::vector<std::int64_t> whole(2);
  EXPECT_THROW(generator.uniform(doubles, 1, 0), InvalidArgument);
  EXPECT_THROW(generator.uniform(floats, 0, INFINITY), InvalidArgument);
  EXPECT_THROW(generator.normal(doubles, 0, -1), InvalidArgument);
  EXPECT_THROW(generator.normal(floats, 0, NAN), InvalidArgument);
  EXPECT_THROW(generator.integers(whole, 0, 0), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
