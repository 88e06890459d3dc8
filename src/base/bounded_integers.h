#pragma once

#include <cstdint>
#include <span>

#include "volvelle/base/pcg64.h"

namespace volvelle {

/// Fills `out` with integers of [low, high), low < high, from a source with word32 and word64: a
/// word times the range, its high half taken, drawn again where the low half shows that the result
/// would come too often. NumPy's Generator.integers.
/// Source: Lemire 2019, doi:10.1145/3230636.
template <class Source>
void draw_integers(Source& source, std::span<std::int64_t> out, std::int64_t low,
                   std::int64_t high) {
  const auto from = static_cast<std::uint64_t>(low);
  const std::uint64_t top = static_cast<std::uint64_t>(high) - from - 1;
  constexpr std::uint64_t kTop32 = 0xFFFFFFFFu;
  for (std::int64_t& value : out) {
    std::uint64_t drawn;
    if (top == 0) {
      drawn = 0;
    } else if (top < kTop32) {
      const auto range = static_cast<std::uint32_t>(top + 1);
      std::uint64_t product = std::uint64_t{source.word32()} * range;
      if (static_cast<std::uint32_t>(product) < range) {
        const std::uint32_t least = (0u - range) % range;
        while (static_cast<std::uint32_t>(product) < least) {
          product = std::uint64_t{source.word32()} * range;
        }
      }
      drawn = product >> 32;
    } else if (top == kTop32) {
      drawn = source.word32();
    } else {
      const std::uint64_t range = top + 1;  // never 0: high - low fits 64 bits
      Pcg64::Wide product = Pcg64::Wide{source.word64()} * range;
      if (static_cast<std::uint64_t>(product) < range) {
        const std::uint64_t least = (0u - range) % range;
        while (static_cast<std::uint64_t>(product) < least) {
          product = Pcg64::Wide{source.word64()} * range;
        }
      }
      drawn = static_cast<std::uint64_t>(product >> 64);
    }
    value = static_cast<std::int64_t>(drawn + from);
  }
}

}  // namespace volvelle
