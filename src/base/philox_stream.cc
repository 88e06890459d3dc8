#include "volvelle/base/philox_stream.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/block_normals.h"
#include "base/bounded_integers.h"
#include "base/philox.h"
#include "base/random_range.h"
#include "base/random_units.h"

namespace volvelle {

// philox4x32 for sixteen counters at once, lane by lane, so that the compiler makes vectors of it.
void PhiloxStream::refill() noexcept {
  constexpr std::size_t kLanes = kWords / 4;
  std::uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t counter = next_counter_ + lane;
    c0[lane] = static_cast<std::uint32_t>(counter);
    c1[lane] = static_cast<std::uint32_t>(counter >> 32);
    c2[lane] = static_cast<std::uint32_t>(stream_);
    c3[lane] = static_cast<std::uint32_t>(stream_ >> 32);
  }
  auto key0 = static_cast<std::uint32_t>(seed_);
  auto key1 = static_cast<std::uint32_t>(seed_ >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t first = std::uint64_t{kPhiloxMultiplier[0]} * c0[lane];
      const std::uint64_t second = std::uint64_t{kPhiloxMultiplier[1]} * c2[lane];
      c0[lane] = static_cast<std::uint32_t>(second >> 32) ^ c1[lane] ^ key0;
      c1[lane] = static_cast<std::uint32_t>(second);
      c2[lane] = static_cast<std::uint32_t>(first >> 32) ^ c3[lane] ^ key1;
      c3[lane] = static_cast<std::uint32_t>(first);
    }
    key0 += kPhiloxWeyl[0];
    key1 += kPhiloxWeyl[1];
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    words_[4 * lane] = c0[lane];
    words_[4 * lane + 1] = c1[lane];
    words_[4 * lane + 2] = c2[lane];
    words_[4 * lane + 3] = c3[lane];
  }
  next_counter_ += kLanes;
  used_ = 0;
}

std::span<const std::uint32_t> PhiloxStream::take(std::size_t most) noexcept {
  if (used_ == kWords) refill();
  const std::size_t count = std::min(most, kWords - used_);
  const std::span<const std::uint32_t> run(words_.data() + used_, count);
  used_ += count;
  return run;
}

std::uint64_t PhiloxStream::word64() noexcept {
  const std::uint64_t low = word32();
  return std::uint64_t{word32()} << 32 | low;
}

void PhiloxStream::uniform(std::span<float> out, double low, double high) {
  check_uniform_range("PhiloxStream::uniform", low, high, std::numeric_limits<float>::max());
  const auto from = static_cast<float>(low);
  const float width = static_cast<float>(high) - from;
  while (!out.empty()) {
    const auto words = take(out.size());
    for (std::size_t i = 0; i < words.size(); ++i) out[i] = from + width * high_unit(words[i]);
    out = out.subspan(words.size());
  }
}

void PhiloxStream::uniform(std::span<double> out, double low, double high) {
  check_uniform_range("PhiloxStream::uniform", low, high, std::numeric_limits<double>::max());
  const double width = high - low;
  for (double& value : out) value = low + width * high_unit(word64());
}

void PhiloxStream::normal(std::span<float> out, double mean, double deviation) {
  check_deviation("PhiloxStream::normal", mean, deviation);
  const std::size_t whole = out.size() / kNormalBlock * kNormalBlock;
  const auto mean32 = static_cast<float>(mean);
  const auto deviation32 = static_cast<float>(deviation);
  uniform(out.first(whole));
  normals_from_units(out.first(whole), mean32, deviation32);
  if (whole == out.size()) return;
  float block[kNormalBlock];
  uniform(block);
  normals_from_units(block, mean32, deviation32);
  std::copy_n(block, out.size() - whole, out.begin() + static_cast<std::ptrdiff_t>(whole));
}

void PhiloxStream::normal(std::span<double> out, double mean, double deviation) {
  check_deviation("PhiloxStream::normal", mean, deviation);
  double units[2];
  for (std::size_t i = 0; i < out.size(); i += 2) {
    uniform(units);
    const double radius = deviation * std::sqrt(-2 * std::log(1 - units[0]));
    const double angle = 2 * std::numbers::pi * units[1];
    out[i] = mean + radius * std::cos(angle);
    if (i + 1 < out.size()) out[i + 1] = mean + radius * std::sin(angle);
  }
}

void PhiloxStream::integers(std::span<std::int64_t> out, std::int64_t low, std::int64_t high) {
  check_integer_range("PhiloxStream::integers", low, high);
  draw_integers(*this, out, low, high);
}

std::int64_t PhiloxStream::below(std::int64_t count) {
  std::int64_t drawn = 0;
  integers({&drawn, 1}, 0, count);
  return drawn;
}

void PhiloxStream::permutation(std::span<std::int64_t> out) {
  std::iota(out.begin(), out.end(), std::int64_t{0});
  for (std::size_t left = out.size(); left > 1; --left) {
    std::swap(out[left - 1], out[static_cast<std::size_t>(below(static_cast<std::int64_t>(left)))]);
  }
}

void PhiloxStream::bernoulli(std::span<std::uint8_t> out, double probability) {
  check_probability("PhiloxStream::bernoulli", probability);
  for (std::uint8_t& value : out) value = high_unit(word64()) < probability;
}

}  // namespace volvelle
