#include <algorithm>
#include <bit>
#include <string>

#include "volvelle/base/error.h"
#include "volvelle/base/torch_generator.h"

namespace volvelle {
namespace {

// The layout of at::CPUGeneratorImpl's legacy state, in bytes: seed, words left until the next
// refill (1: none), whether seeded, place of the next word, one word in each of 624 times 8 bytes,
// three doubles of which the second is the normal that waits, whether it does, a float of no use.
constexpr std::size_t kSeed = 0, kLeft = 8, kSeeded = 12, kNext = 16, kState = 24;
constexpr std::size_t kWaiting = kState + 8 * MersenneTwister::kWords + 8;
constexpr std::size_t kHasWaiting = kWaiting + 16;
constexpr std::size_t kBytes = 5056;

void put(std::vector<std::byte>& bytes, std::size_t at, std::uint64_t number, int count) {
  for (int i = 0; i < count; ++i, number >>= 8) {
    bytes[at + static_cast<std::size_t>(i)] = static_cast<std::byte>(number & 0xFFu);
  }
}

std::uint64_t get(std::span<const std::byte> bytes, std::size_t at, int count) {
  std::uint64_t number = 0;
  for (int i = count; i-- > 0;) {
    number = number << 8 | std::to_integer<std::uint64_t>(bytes[at + static_cast<std::size_t>(i)]);
  }
  return number;
}

[[noreturn]] void refuse(const std::string& text) {
  throw InvalidArgument("[TorchGenerator::restore] " + text);
}

}  // namespace

std::vector<std::byte> TorchGenerator::state() const {
  std::vector<std::byte> bytes(kBytes);
  const auto& words = engine_.state();
  const std::size_t used = engine_.used();
  const bool seeded_only =
      used == words.size() && words == MersenneTwister(static_cast<std::uint32_t>(seed_)).state();
  put(bytes, kSeed, seed_, 8);
  put(bytes, kLeft, words.size() + 1 - used, 4);
  put(bytes, kSeeded, 1, 4);
  put(bytes, kNext, seeded_only ? 0 : used, 8);
  for (std::size_t i = 0; i < words.size(); ++i) put(bytes, kState + 8 * i, words[i], 8);
  if (waiting_) {
    put(bytes, kWaiting, std::bit_cast<std::uint64_t>(*waiting_), 8);
    put(bytes, kHasWaiting, 1, 4);
  }
  return bytes;
}

void TorchGenerator::restore(std::span<const std::byte> state) {
  if (state.size() != kBytes) {
    refuse("a state has " + std::to_string(kBytes) + " bytes, not " + std::to_string(state.size()));
  }
  const std::uint64_t left = get(state, kLeft, 4);
  const std::uint64_t next = get(state, kNext, 8);
  constexpr std::uint64_t kWords = MersenneTwister::kWords;
  const bool refills = left == 1 && (next == 0 || next == kWords);
  if (get(state, kSeeded, 4) != 1 ||
      (!refills && (left < 2 || left > kWords || left + next != kWords + 1))) {
    refuse("words left and used must add up to " + std::to_string(kWords + 1) +
           " in a seeded state, not left=" + std::to_string(left) +
           ", used=" + std::to_string(next));
  }
  std::array<std::uint32_t, MersenneTwister::kWords> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t word = get(state, kState + 8 * i, 8);
    if (word >> 32 != 0) {
      refuse("word " + std::to_string(i) + " has more than 32 bits: " + std::to_string(word));
    }
    words[i] = static_cast<std::uint32_t>(word);
  }
  seed_ = get(state, kSeed, 8);
  engine_ = MersenneTwister(words, refills ? words.size() : next);
  waiting_.reset();
  if (get(state, kHasWaiting, 4) != 0) {
    waiting_ = std::bit_cast<double>(get(state, kWaiting, 8));
  }
}

}  // namespace volvelle
