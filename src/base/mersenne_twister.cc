#include "volvelle/base/mersenne_twister.h"

#include <algorithm>

namespace volvelle {
namespace {

constexpr std::size_t kWords = MersenneTwister::kWords;
constexpr std::size_t kAhead = 397;

std::uint32_t twisted(std::uint32_t high, std::uint32_t low, std::uint32_t ahead) {
  const std::uint32_t joined = (high & 0x80000000u) | (low & 0x7FFFFFFFu);
  return ahead ^ (joined >> 1) ^ ((0u - (low & 1u)) & 0x9908B0DFu);
}

}  // namespace

MersenneTwister::MersenneTwister(std::uint32_t seed) noexcept : words_{} {
  state_[0] = seed;
  for (std::size_t i = 1; i < kWords; ++i) {
    state_[i] =
        1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<std::uint32_t>(i);
  }
}

MersenneTwister::MersenneTwister(const std::array<std::uint32_t, kWords>& state,
                                 std::size_t used) noexcept
    : state_(state), used_(std::min(used, kWords)) {
  temper();
}

std::span<const std::uint32_t> MersenneTwister::take(std::size_t most) noexcept {
  if (used_ == kWords) refill();
  const std::size_t count = std::min(most, kWords - used_);
  const std::span<const std::uint32_t> run(words_.data() + used_, count);
  used_ += count;
  return run;
}

// Three loops instead of one with remainders, so that the compiler makes vectors of them: a word
// is read at the earliest 227 places before it is written anew.
void MersenneTwister::refill() noexcept {
  std::uint32_t* const s = state_.data();
  constexpr std::size_t kTurn = kWords - kAhead;
  for (std::size_t i = 0; i < kTurn; ++i) s[i] = twisted(s[i], s[i + 1], s[i + kAhead]);
  for (std::size_t i = kTurn; i < kWords - 1; ++i) s[i] = twisted(s[i], s[i + 1], s[i - kTurn]);
  s[kWords - 1] = twisted(s[kWords - 1], s[0], s[kAhead - 1]);
  temper();
  used_ = 0;
}

void MersenneTwister::temper() noexcept {
  for (std::size_t i = 0; i < kWords; ++i) {
    std::uint32_t y = state_[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9D2C5680u;
    y ^= (y << 15) & 0xEFC60000u;
    words_[i] = y ^ (y >> 18);
  }
}

}  // namespace volvelle
