#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace volvelle {

/// Spreads seeds over as many well-mixed words as a generator needs, as numpy.random.SeedSequence
/// does.
/// Source: O'Neill 2015, pcg-random.org/posts/developing-a-seed_seq-alternative.html.
class SeedSequence {
 public:
  /// Entropy as 32-bit words; none counts as one word 0.
  explicit SeedSequence(std::span<const std::uint32_t> entropy);

  const std::array<std::uint32_t, 4>& pool() const noexcept { return pool_; }
  /// generate_state(count, numpy.uint64).
  std::vector<std::uint64_t> generate(std::size_t count) const;

 private:
  std::array<std::uint32_t, 4> pool_{};
};

/// The words of a list of numbers, each by its low word first and without leading zeros (0 is one
/// word).
std::vector<std::uint32_t> entropy_words(std::span<const std::uint64_t> numbers);

}  // namespace volvelle
