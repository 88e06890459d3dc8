#pragma once

#include <bit>
#include <cstdint>

namespace volvelle {

/// Numbers in [0, 1) made of random words.

/// The low 24 bits of a word, as PyTorch takes them.
inline float low_unit(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word & 0xFFFFFFu)) * 0x1p-24f;
}
/// The low 53 bits of a word, likewise.
inline double low_unit(std::uint64_t word) {
  return static_cast<double>(static_cast<std::int64_t>(word & 0x1FFFFFFFFFFFFFu)) * 0x1p-53;
}
/// The high bits, as NumPy takes them.
inline float high_unit(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24f;
}
inline double high_unit(std::uint64_t word) {
  return static_cast<double>(static_cast<std::int64_t>(word >> 11)) * 0x1p-53;
}

}  // namespace volvelle
