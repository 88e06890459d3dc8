#include "base/seed_sequence.h"

namespace volvelle {
namespace {

/// Mixes words with a constant that goes on from word to word.
class Hash {
 public:
  constexpr Hash(std::uint32_t start, std::uint32_t multiplier)
      : constant_(start), multiplier_(multiplier) {}
  std::uint32_t operator()(std::uint32_t word) {
    word ^= constant_;
    constant_ *= multiplier_;
    word *= constant_;
    return word ^ word >> 16;
  }

 private:
  std::uint32_t constant_, multiplier_;
};

std::uint32_t blended(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t word = 0xCA01F9DDu * x - 0x4973F715u * y;
  return word ^ word >> 16;
}

}  // namespace

SeedSequence::SeedSequence(std::span<const std::uint32_t> entropy) {
  Hash absorb(0x43B0D7E5u, 0x931E8875u);
  for (std::size_t i = 0; i < pool_.size(); ++i) {
    pool_[i] = absorb(i < entropy.size() ? entropy[i] : 0);
  }
  for (std::size_t from = 0; from < pool_.size(); ++from) {
    for (std::size_t to = 0; to < pool_.size(); ++to) {
      if (to != from) pool_[to] = blended(pool_[to], absorb(pool_[from]));
    }
  }
  for (std::size_t i = pool_.size(); i < entropy.size(); ++i) {
    for (std::uint32_t& word : pool_) word = blended(word, absorb(entropy[i]));
  }
}

std::vector<std::uint64_t> SeedSequence::generate(std::size_t count) const {
  Hash give(0x8B51F9DDu, 0x58F38DEDu);
  std::vector<std::uint64_t> words(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t low = give(pool_[2 * i % pool_.size()]);
    const std::uint64_t high = give(pool_[(2 * i + 1) % pool_.size()]);
    words[i] = high << 32 | low;
  }
  return words;
}

std::vector<std::uint32_t> entropy_words(std::span<const std::uint64_t> numbers) {
  std::vector<std::uint32_t> words;
  for (const std::uint64_t number : numbers) {
    words.push_back(static_cast<std::uint32_t>(number));
    if (number >> 32 != 0) words.push_back(static_cast<std::uint32_t>(number >> 32));
  }
  return words;
}

}  // namespace volvelle
