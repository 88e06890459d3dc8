#pragma once

#include <bit>
#include <cstdint>

#include "volvelle/base/export.h"

namespace volvelle {

/// PCG64 (XSL-RR on 128 bits), NumPy's default bit generator.
/// Source: O'Neill 2014, HMC-CS-2014-0905.
class VOLVELLE_API Pcg64 {
 public:
  __extension__ using Wide = unsigned __int128;

  /// As NumPy seeds it, from the two numbers that a SeedSequence makes.
  Pcg64(Wide start, Wide sequence) noexcept : increment_(sequence << 1 | 1u) {
    step();
    state_ += start;
    step();
  }

  std::uint64_t next() noexcept {
    step();
    const auto high = static_cast<std::uint64_t>(state_ >> 64);
    const auto low = static_cast<std::uint64_t>(state_);
    return std::rotr(high ^ low, static_cast<int>(high >> 58));
  }

  Wide state() const noexcept { return state_; }
  Wide increment() const noexcept { return increment_; }

 private:
  void step() noexcept {
    constexpr Wide kMultiplier = Wide{2549297995355413924u} << 64 | 4865540595714422341u;
    state_ = state_ * kMultiplier + increment_;
  }

  Wide state_ = 0;
  Wide increment_;
};

}  // namespace volvelle
