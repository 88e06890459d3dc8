#include "volvelle/base/philox_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/philox.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

TEST(PhiloxStream, WordsAreThoseOfTheCounter) {
  const std::uint64_t seed = 0xA4093822299F31D0u, stream = 0x0370734413198A2Eu;
  PhiloxStream words(seed, stream);
  for (std::uint32_t counter = 0; counter < 50; ++counter) {
    const auto expected =
        philox4x32({counter, 0, 0x13198A2Eu, 0x03707344u}, {0x299F31D0u, 0xA4093822u});
    for (const std::uint32_t word : expected) ASSERT_EQ(words.word32(), word) << counter;
  }
}

template <class Draw>
void expect_same_beginnings(Draw draw) {
  PhiloxStream whole(5);
  auto all = draw(whole, 101);
  for (const std::size_t count : {1u, 2u, 15u, 16u, 17u, 64u, 65u}) {
    PhiloxStream part(5);
    const auto few = draw(part, count);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin())) << count;
  }
}

template <class Number>
auto uniforms(PhiloxStream& stream, std::size_t count) {
  std::vector<Number> out(count);
  stream.uniform(out, -2, 3);
  return out;
}

template <class Number>
auto normals(PhiloxStream& stream, std::size_t count) {
  std::vector<Number> out(count);
  stream.normal(out, 1, 2);
  return out;
}

TEST(PhiloxStream, ADrawBeginsAlikeWhateverItsLength) {
  expect_same_beginnings(uniforms<float>);
  expect_same_beginnings(uniforms<double>);
  expect_same_beginnings(normals<float>);
  expect_same_beginnings(normals<double>);
}

/// Mean and deviation of many.
template <class Numbers>
std::pair<double, double> moments(const Numbers& numbers) {
  double sum = 0, squares = 0;
  for (const auto number : numbers) sum += static_cast<double>(number);
  const double mean = sum / static_cast<double>(numbers.size());
  for (const auto number : numbers)
    squares += (static_cast<double>(number) - mean) * (static_cast<double>(number) - mean);
  return {mean, std::sqrt(squares / static_cast<double>(numbers.size()))};
}

template <class Number>
void expect_moments() {
  PhiloxStream stream(12);
  const auto flat = moments(uniforms<Number>(stream, 100000));
  EXPECT_NEAR(flat.first, 0.5, 0.02);
  EXPECT_NEAR(flat.second, 5 / std::sqrt(12.0), 0.02);
  const auto bell = moments(normals<Number>(stream, 100000));
  EXPECT_NEAR(bell.first, 1, 0.03);
  EXPECT_NEAR(bell.second, 2, 0.03);
}

TEST(PhiloxStream, MomentsAreWhatWasAskedFor) {
  expect_moments<float>();
  expect_moments<double>();
}

TEST(PhiloxStream, StreamsAndSeedsDiffer) {
  EXPECT_NE(PhiloxStream(1, 0).word64(), PhiloxStream(1, 1).word64());
  EXPECT_NE(PhiloxStream(1, 0).word64(), PhiloxStream(2, 0).word64());
  EXPECT_EQ(PhiloxStream(1, 7).word64(), PhiloxStream(1, 7).word64());
  PhiloxStream original(3);
  original.word32();
  PhiloxStream copy = original;
  EXPECT_EQ(copy.word64(), original.word64());
}

TEST(PhiloxStream, IntegersFillTheirRangeEvenly) {
  PhiloxStream stream(4);
  std::vector<std::int64_t> drawn(60000);
  stream.integers(drawn, -3, 3);
  for (std::int64_t value = -3; value < 3; ++value) {
    EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), drawn.end(), value)), 10000, 500);
  }
  EXPECT_EQ(std::count_if(drawn.begin(), drawn.end(), [](auto v) { return v < -3 || v > 2; }), 0);
  EXPECT_EQ(stream.below(1), 0);
  stream.integers(drawn, INT64_MIN, INT64_MAX);
  EXPECT_GT(std::count_if(drawn.begin(), drawn.end(), [](auto v) { return v < 0; }), 29000);
}

TEST(PhiloxStream, PermutationsHoldEveryNumberOnce) {
  PhiloxStream stream(4);
  std::vector<std::int64_t> order(1000), sorted(1000);
  stream.permutation(order);
  std::iota(sorted.begin(), sorted.end(), 0);
  EXPECT_NE(order, sorted);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, sorted);
  std::vector<std::int64_t> none, first_places(3);
  stream.permutation(none);
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::int64_t> three(3);
    stream.permutation(three);
    ++first_places[static_cast<std::size_t>(three[0])];
  }
  for (const auto count : first_places) EXPECT_NEAR(static_cast<double>(count), 1000, 120);
}

TEST(PhiloxStream, BernoulliKeepsTheShareThatWasAskedFor) {
  PhiloxStream stream(4);
  std::vector<std::uint8_t> bits(100000);
  stream.bernoulli(bits, 0.3);
  EXPECT_NEAR(std::accumulate(bits.begin(), bits.end(), 0.0), 30000, 600);
  stream.bernoulli(bits, 0);
  EXPECT_EQ(std::count(bits.begin(), bits.end(), 1), 0);
  stream.bernoulli(bits, 1);
  EXPECT_EQ(std::count(bits.begin(), bits.end(), 0), 0);
}

TEST(PhiloxStream, BadArgumentsAreRefused) {
  PhiloxStream stream(0);
  std::vector<float> floats(2);
  std::vector<double> doubles(2);
  std::vector<std::int64_t> whole(2);
  std::vector<std::uint8_t> bits(2);
  EXPECT_THROW(stream.uniform(floats, 1, 0), InvalidArgument);
  EXPECT_THROW(stream.uniform(doubles, NAN, 0), InvalidArgument);
  EXPECT_THROW(stream.normal(floats, 0, -1), InvalidArgument);
  EXPECT_THROW(stream.normal(doubles, 0, -1), InvalidArgument);
  EXPECT_THROW(stream.integers(whole, 2, 1), InvalidArgument);
  EXPECT_THROW(stream.below(0), InvalidArgument);
  EXPECT_THROW(stream.bernoulli(bits, -0.1), InvalidArgument);
}

}  // namespace
}  // namespace volvelle
