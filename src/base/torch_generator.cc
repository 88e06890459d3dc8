#include "volvelle/base/torch_generator.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "base/block_normals.h"
#include "base/fused.h"
#include "base/random_range.h"
#include "base/random_units.h"
#include "volvelle/base/error.h"

// Compiled without contraction: a multiplication and an addition are two roundings here unless they
// are written as one.
namespace volvelle {
namespace {

/// Whether the exact value of u * width + low fits a double for every u = k * 2^-24 in [0, 1), so
/// that `fused` rounds once.
bool fits_double(float low, float width) {
  if (low == 0 || width == 0) return true;
  const int apart = std::ilogb(low) - std::ilogb(width);
  return apart >= -28 && apart <= 4;
}

template <class Number>
void check_probabilities(std::span<std::uint8_t> out, std::span<const Number> probabilities) {
  constexpr const char* kOperation = "TorchGenerator::bernoulli";
  if (out.size() != probabilities.size()) {
    throw InvalidArgument("[TorchGenerator::bernoulli] as many results as probabilities, not " +
                          std::to_string(out.size()) + " and " +
                          std::to_string(probabilities.size()));
  }
  for (const Number probability : probabilities) {
    check_probability(kOperation, static_cast<double>(probability));
  }
}

}  // namespace

TorchGenerator::TorchGenerator(std::uint64_t seed) noexcept
    : seed_(seed), engine_(static_cast<std::uint32_t>(seed)) {}

void TorchGenerator::manual_seed(std::uint64_t seed) noexcept { *this = TorchGenerator(seed); }

std::uint64_t TorchGenerator::word64() noexcept {
  const std::uint64_t high = word32();
  return high << 32 | word32();
}

double TorchGenerator::unit() noexcept { return low_unit(word64()); }

void TorchGenerator::uniform(std::span<float> out, double low, double high) {
  check_uniform_range("TorchGenerator::uniform", low, high, std::numeric_limits<float>::max());
  const auto from = static_cast<float>(low);
  const float width = static_cast<float>(high) - from;
  const bool plain = from == 0 && width == 1;
  const bool exact = fits_double(from, width);
  while (!out.empty()) {
    const auto words = engine_.take(out.size());
    float* const to = out.data();
    const std::uint32_t* const word = words.data();
    const std::size_t count = words.size();
    if (plain) {
      for (std::size_t i = 0; i < count; ++i) to[i] = low_unit(word[i]);
    } else if (exact) {
      for (std::size_t i = 0; i < count; ++i) to[i] = fused(low_unit(word[i]), width, from);
    } else {
      for (std::size_t i = 0; i < count; ++i) to[i] = std::fma(low_unit(word[i]), width, from);
    }
    out = out.subspan(count);
  }
}

void TorchGenerator::uniform(std::span<double> out, double low, double high) {
  check_uniform_range("TorchGenerator::uniform", low, high, std::numeric_limits<double>::max());
  const double width = high - low;
  for (double& value : out) value = unit();
  if (low == 0 && width == 1) return;
  for (double& value : out) value = std::fma(value, width, low);
}

void TorchGenerator::normal(std::span<float> out, double mean, double deviation) {
  if (out.size() < kNormalBlock) return normal_one_by_one(out, mean, deviation);
  check_deviation("TorchGenerator::normal", mean, deviation);
  const auto mean32 = static_cast<float>(mean);
  const auto deviation32 = static_cast<float>(deviation);
  uniform(out);
  normals_from_units(out, mean32, deviation32);
  if (out.size() % kNormalBlock == 0) return;
  // The rest is no block of its own: the last sixteen are drawn afresh.
  const auto last = out.last(kNormalBlock);
  uniform(last);
  normals_from_units(last, mean32, deviation32);
}

void TorchGenerator::normal(std::span<double> out, double mean, double deviation) {
  if (out.size() < kNormalBlock) return normal_one_by_one(out, mean, deviation);
  check_deviation("TorchGenerator::normal", mean, deviation);
  const auto transform = [&](double* block) {
    constexpr std::size_t kHalf = kNormalBlock / 2;
    for (std::size_t j = 0; j < kHalf; ++j) {
      const double radius = std::sqrt(-2 * std::log(1 - block[j]));
      const double angle = 2 * std::numbers::pi * block[j + kHalf];
      block[j] = std::fma(radius * std::cos(angle), deviation, mean);
      block[j + kHalf] = std::fma(radius * std::sin(angle), deviation, mean);
    }
  };
  uniform(out);
  for (std::size_t i = 0; i + kNormalBlock <= out.size(); i += kNormalBlock) {
    transform(out.data() + i);
  }
  if (out.size() % kNormalBlock == 0) return;
  uniform(out.last(kNormalBlock));
  transform(out.last(kNormalBlock).data());
}

double TorchGenerator::next_normal() {
  if (waiting_) {
    const double normal = *waiting_;
    waiting_.reset();
    return normal;
  }
  const double first = unit();
  const double second = unit();
  const double radius = std::sqrt(-2 * std::log(1 - second));
  const double angle = 2 * std::numbers::pi * first;
  waiting_ = radius * std::sin(angle);
  return radius * std::cos(angle);
}

void TorchGenerator::normal_one_by_one(std::span<float> out, double mean, double deviation) {
  check_deviation("TorchGenerator::normal", mean, deviation);
  for (float& value : out) value = static_cast<float>(next_normal() * deviation + mean);
}

void TorchGenerator::normal_one_by_one(std::span<double> out, double mean, double deviation) {
  check_deviation("TorchGenerator::normal", mean, deviation);
  for (double& value : out) value = next_normal() * deviation + mean;
}

void TorchGenerator::integers(std::span<std::int64_t> out, std::int64_t low, std::int64_t high) {
  check_integer_range("TorchGenerator::integers", low, high);
  const auto from = static_cast<std::uint64_t>(low);
  const std::uint64_t range = static_cast<std::uint64_t>(high) - from;
  const bool wide = range >> 32 != 0;
  for (std::int64_t& value : out) {
    const std::uint64_t word = wide ? word64() : word32();
    value = static_cast<std::int64_t>(word % range + from);
  }
}

void TorchGenerator::permutation(std::span<std::int64_t> out) {
  std::iota(out.begin(), out.end(), std::int64_t{0});
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    std::swap(out[i], out[i + word32() % (out.size() - i)]);
  }
}

void TorchGenerator::bernoulli(std::span<std::uint8_t> out, std::span<const float> probabilities) {
  check_probabilities(out, probabilities);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = low_unit(word32()) < probabilities[i];
}

void TorchGenerator::bernoulli(std::span<std::uint8_t> out, std::span<const double> probabilities) {
  check_probabilities(out, probabilities);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = unit() < probabilities[i];
}

void TorchGenerator::bernoulli(std::span<std::uint8_t> out, double probability) {
  check_probability("TorchGenerator::bernoulli", probability);
  for (std::uint8_t& value : out) value = unit() < probability;
}

void TorchGenerator::bernoulli_mkl(std::span<std::uint8_t> out, double probability) {
  check_probability("TorchGenerator::bernoulli_mkl", probability);
  if (out.empty()) return;
  constexpr std::uint64_t kModulus = 0x7FFFFFFFu;
  std::uint64_t x = word32() % kModulus;
  if (x == 0) x = 1;
  for (std::uint8_t& value : out) {
    value = static_cast<double>(x) / static_cast<double>(kModulus) < probability;
    x = 1132489760u * x % kModulus;
  }
}

}  // namespace volvelle
