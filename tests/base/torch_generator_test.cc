#include "volvelle/base/torch_generator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "support/random_vectors.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using testing::hex_of;
using testing::random_vectors;

TEST(MersenneTwister, GivesThePublishedWords) {
  const auto& rows = random_vectors()["mt19937_words"];
  ASSERT_EQ(rows.size(), 9u);
  for (const auto& row : rows) {
    TorchGenerator generator(row["seed"].get<std::uint64_t>());
    std::vector<std::uint32_t> words(1252);
    for (auto& word : words) word = generator.word32();
    for (const auto& [name, first] : {std::pair{"words_0_7", 0}, std::pair{"words_620_627", 620},
                                      std::pair{"words_1244_1251", 1244}}) {
      EXPECT_EQ(std::vector(words.begin() + first, words.begin() + first + 8),
                row[name].get<std::vector<std::uint32_t>>())
          << row["seed"] << " " << name;
    }
  }
}

TEST(MersenneTwister, IsTheStandardLibrarys) {
  MersenneTwister ours(5489);
  std::mt19937 theirs(5489);
  for (int i = 1; i < 10000; ++i) ASSERT_EQ(ours.next(), theirs()) << i;
  EXPECT_EQ(ours.next(), 4123659995u);
}

/// What a call of the vectors returned, as text: bits of floats, integers.
std::string drawn(TorchGenerator& generator, const std::string& call) {
  std::smatch found;
  const auto matches = [&](const char* pattern) {
    return std::regex_match(call, found, std::regex(pattern));
  };
  const auto count = [&](std::size_t group) { return std::stoul(found[group]); };
  const auto integers = [](const auto& values) {
    return nlohmann::json(values).get<std::vector<std::int64_t>>();
  };
  const auto text_of = [&](const auto& values) { return nlohmann::json(integers(values)).dump(); };
  if (matches(R"(randn\((\d+)\))")) {
    std::vector<float> out(count(1));
    generator.normal(out);
    return hex_of(out);
  }
  if (matches(R"(randn\((\d+), float64\))")) {
    std::vector<double> out(count(1));
    generator.normal(out);
    return hex_of(out);
  }
  if (matches(R"(rand\((\d+)\).*)")) {
    std::vector<float> out(count(1));
    generator.uniform(out);
    return hex_of(out);
  }
  if (matches(R"(rand\((\d+), float64\))")) {
    std::vector<double> out(count(1));
    generator.uniform(out);
    return hex_of(out);
  }
  if (matches(R"(empty\((\d+)\)\.uniform_\((-?[\d.]+), (-?[\d.]+)\))")) {
    std::vector<float> out(count(1));
    generator.uniform(out, std::stod(found[2]), std::stod(found[3]));
    return hex_of(out);
  }
  if (call == "empty(16).uniform_(-1/sqrt(32), 1/sqrt(32))") {
    std::vector<float> out(16);
    generator.uniform(out, -1 / std::sqrt(32.0), 1 / std::sqrt(32.0));
    return hex_of(out);
  }
  if (matches(R"(empty\((\d+)\)\.normal_\(([\d.]+), ([\d.]+)\))")) {
    std::vector<float> out(count(1));
    generator.normal(out, std::stod(found[2]), std::stod(found[3]));
    return hex_of(out);
  }
  if (call.starts_with("empty(4,8).t().normal_()")) {
    std::vector<float> out(32);
    generator.normal_one_by_one(out);
    return hex_of(out);
  }
  if (matches(R"(randint\((-?\d+), ?(-?\d+), ?\((\d+),\)(, generator=.*1000\))?\))")) {
    std::vector<std::int64_t> out(count(3));
    TorchGenerator own(1000);
    TorchGenerator& from = found[4].matched ? own : generator;
    from.integers(out, std::stoll(found[1]), std::stoll(found[2]));
    return text_of(out);
  }
  if (matches(R"(randperm\((\d+)\))")) {
    std::vector<std::int64_t> out(count(1));
    generator.permutation(out);
    return text_of(out);
  }
  if (call == "empty(40).bernoulli_(0.9)") {
    std::vector<std::uint8_t> out(40);
    generator.bernoulli(out, 0.9);
    return text_of(out);
  }
  if (call == "bernoulli(full((40,), 0.9))") {
    std::vector<std::uint8_t> out(40);
    generator.bernoulli(out, std::vector<float>(40, 0.9f));
    return text_of(out);
  }
  if (call == "dropout(ones(6,6), p=0.5)") {
    std::vector<std::uint8_t> kept(36);
    generator.bernoulli(kept, 0.5);
    std::vector<float> out;
    for (const auto one : kept) out.push_back(static_cast<float>(one) / 0.5f);
    return hex_of(out);
  }
  if (call.starts_with("randn(1); manual_seed(5); randn(1)")) {
    std::vector<float> out(1);
    generator.normal(out);
    generator.manual_seed(5);
    generator.normal(out);
    return hex_of(out);
  }
  return "no such call is known here";
}

TEST(TorchGenerator, EveryPublishedStreamIsDrawnBitForBit) {
  const auto& streams = random_vectors()["torch_streams"];
  ASSERT_EQ(streams.size(), 43u);
  for (const auto& stream : streams) {
    TorchGenerator generator(stream["seed"].get<std::uint64_t>());
    for (const auto& call : stream["calls"]) {
      const auto& out = call["out"];
      EXPECT_EQ(drawn(generator, call["call"]),
                out.is_string() ? out.get<std::string>() : out.dump())
          << stream["seed"] << " " << call["call"];
    }
  }
}

/// Words that a draw used, counted as the place in an untouched stream where the next one stands.
std::size_t words_used(const std::function<void(TorchGenerator&)>& draw, bool with_waiting) {
  TorchGenerator generator(77), untouched(77);
  if (with_waiting) {
    std::vector<float> one(1);
    generator.normal(one);
    for (int i = 0; i < 4; ++i) untouched.word32();
  }
  draw(generator);
  const std::uint64_t next = generator.word64();  // two words, so that no chance meeting counts
  std::uint64_t seen = untouched.word64();
  for (std::size_t used = 0; used < 1000; ++used) {
    if (seen == next) return used;
    seen = seen << 32 | untouched.word32();
  }
  return 1000;
}

TEST(TorchGenerator, EveryDrawUsesThePublishedNumberOfWords) {
  const auto floats = [](std::size_t count) {
    return [count](TorchGenerator& g) {
      std::vector<float> out(count);
      g.normal(out);
    };
  };
  const auto integers = [](std::int64_t high) {
    return [high](TorchGenerator& g) {
      std::vector<std::int64_t> out(5);
      g.integers(out, 0, high);
    };
  };
  const auto permutation = [](std::size_t count) {
    return [count](TorchGenerator& g) {
      std::vector<std::int64_t> out(count);
      g.permutation(out);
    };
  };
  const auto mask = [](TorchGenerator& g) {
    std::vector<std::uint8_t> out(5);
    g.bernoulli(out, 0.5);
  };
  const std::vector<std::pair<std::string, std::function<void(TorchGenerator&)>>> draws = {
      {"randn(1), cache empty", floats(1)},
      {"randn(1), cache full", floats(1)},
      {"randn(5), cache empty", floats(5)},
      {"randn(15), cache empty", floats(15)},
      {"randn(16)", floats(16)},
      {"randn(17)", floats(17)},
      {"randn(32)", floats(32)},
      {"randn(100)", floats(100)},
      {"randn(0)", floats(0)},
      {"randn(16, float64)",
       [](TorchGenerator& g) {
         std::vector<double> out(16);
         g.normal(out);
       }},
      {"rand(5)",
       [](TorchGenerator& g) {
         std::vector<float> out(5);
         g.uniform(out);
       }},
      {"rand(5, float64)",
       [](TorchGenerator& g) {
         std::vector<double> out(5);
         g.uniform(out);
       }},
      {"randint(0,10,(5,))", integers(10)},
      {"randint(0,2**32,(5,))", integers(std::int64_t{1} << 32)},
      {"randperm(10)", permutation(10)},
      {"randperm(1)", permutation(1)},
      {"bernoulli_(p) n=5, no MKL", mask},
      {"bernoulli(float tensor) n=5",
       [](TorchGenerator& g) {
         std::vector<std::uint8_t> out(5);
         g.bernoulli(out, std::vector<float>(5, 0.5f));
       }},
      {"dropout p=0.5 n=5, no MKL", mask},
  };
  const auto& words = random_vectors()["words_consumed"];
  for (const auto& [name, draw] : draws) {
    EXPECT_EQ(words_used(draw, name == "randn(1), cache full"), words.at(name).get<std::size_t>())
        << name;
  }
}

TEST(TorchGenerator, BernoulliWithMklGivesThePublishedMask) {
  const auto& example = random_vectors()["dropout_mkl_public_example"];
  const auto mask = [&](auto draw) {
    TorchGenerator generator(example["seed"].get<std::uint64_t>());
    std::vector<std::uint8_t> kept(36);
    (generator.*draw)(kept, 0.5);
    std::vector<int> doubled(kept.begin(), kept.end());
    for (int& value : doubled) value *= 2;
    return doubled;
  };
  using Draw = void (TorchGenerator::*)(std::span<std::uint8_t>, double);
  EXPECT_EQ(mask(&TorchGenerator::bernoulli_mkl), example["out_linux_mkl"].get<std::vector<int>>());
  EXPECT_EQ(mask(Draw{&TorchGenerator::bernoulli}),
            example["out_mt19937_path"].get<std::vector<int>>());
}

TEST(TorchGenerator, ANormalThatWaitsOutlivesOtherDrawsButNotANewSeed) {
  std::vector<float> one(1), block(16), second(2);
  TorchGenerator generator(9), plain(9);
  plain.normal(second);
  generator.normal(one);
  TorchGenerator seeded = generator;
  generator.normal(block);
  generator.uniform(block);
  generator.normal(one);
  EXPECT_EQ(one[0], second[1]);
  seeded.manual_seed(9);
  seeded.normal(one);
  EXPECT_EQ(one[0], second[0]);
}

TEST(TorchGenerator, SeedsAgreeModuloTwoToThe32) {
  TorchGenerator low(3), high((std::uint64_t{1} << 40) + 3);
  EXPECT_EQ(low.word64(), high.word64());
  EXPECT_EQ(high.initial_seed(), (std::uint64_t{1} << 40) + 3);
}

// A range for which a sum in double would round twice takes the other loop.
TEST(TorchGenerator, UniformRoundsOnceForAnyRange) {
  for (const auto& [low, high] :
       {std::pair{-0.1, 0.3}, {1.0, 1.0 + 0x1p-20}, {-3e-7, 5.0}, {1000.0, 1000.5}, {-7.0, -7.0}}) {
    std::vector<float> units(4000), ranged(4000);
    TorchGenerator first(11), second(11);
    first.uniform(units);
    second.uniform(ranged, low, high);
    const auto from = static_cast<float>(low);
    const float width = static_cast<float>(high) - from;
    for (std::size_t i = 0; i < units.size(); ++i) {
      ASSERT_EQ(ranged[i], std::fma(units[i], width, from)) << low << " " << high << " " << i;
    }
  }
}

TEST(TorchGenerator, BadArgumentsAreRefusedBeforeAnythingIsDrawn) {
  TorchGenerator generator(1), untouched(1);
  std::vector<float> floats(20);
  std::vector<double> doubles(20);
  std::vector<std::int64_t> integers(3);
  std::vector<std::uint8_t> bits(3);
  EXPECT_THROW(generator.uniform(floats, 1, 0), InvalidArgument);
  EXPECT_THROW(generator.uniform(floats, 0, NAN), InvalidArgument);
  EXPECT_THROW(generator.uniform(floats, 0, 1e39), InvalidArgument);
  EXPECT_THROW(generator.uniform(doubles, -1e308, 1e308), InvalidArgument);
  EXPECT_THROW(generator.normal(floats, 0, -1), InvalidArgument);
  EXPECT_THROW(generator.normal(doubles, NAN, 1), InvalidArgument);
  EXPECT_THROW(generator.normal_one_by_one(floats, 0, -1), InvalidArgument);
  EXPECT_THROW(generator.integers(integers, 3, 3), InvalidArgument);
  EXPECT_THROW(generator.bernoulli(bits, 1.5), InvalidArgument);
  EXPECT_THROW(generator.bernoulli_mkl(bits, -0.5), InvalidArgument);
  EXPECT_THROW(generator.bernoulli(bits, std::vector<float>{0.5f, 2.0f, 0.5f}), InvalidArgument);
  EXPECT_THROW(generator.bernoulli(bits, std::vector<double>{0.5}), InvalidArgument);
  EXPECT_EQ(generator.word64(), untouched.word64());
}

}  // namespace
}  // namespace volvelle
