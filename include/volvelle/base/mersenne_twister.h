#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "volvelle/base/export.h"

namespace volvelle {

/// MT19937, word for word std::mt19937, handed out in runs so that what is made of the words can be
/// plain loops over arrays.
/// Source: Matsumoto and Nishimura 1998, doi:10.1145/272991.272995.
class VOLVELLE_API MersenneTwister {
 public:
  static constexpr std::size_t kWords = 624;

  explicit MersenneTwister(std::uint32_t seed) noexcept;
  /// One that goes on from saved words, `used` of which (at most kWords) were handed out.
  MersenneTwister(const std::array<std::uint32_t, kWords>& state, std::size_t used) noexcept;

  std::uint32_t next() noexcept { return take(1)[0]; }
  /// The next words: at least one and at most `most` (not 0); good until the next call.
  std::span<const std::uint32_t> take(std::size_t most) noexcept;

  const std::array<std::uint32_t, kWords>& state() const noexcept { return state_; }
  std::size_t used() const noexcept { return used_; }  ///< words handed out of the present state

 private:
  void refill() noexcept;
  void temper() noexcept;

  std::array<std::uint32_t, kWords> state_;
  std::array<std::uint32_t, kWords> words_;  ///< the same, tempered
  std::size_t used_ = kWords;
};

}  // namespace volvelle
