#pragma once

#include <array>
#include <cstdint>

namespace volvelle {

/// Multipliers and key increments of Philox4x32, for the vector twin in kernels.
inline constexpr std::uint32_t kPhiloxMultiplier[2] = {0xD2511F53u, 0xCD9E8D57u};
inline constexpr std::uint32_t kPhiloxWeyl[2] = {0x9E3779B9u, 0xBB67AE85u};
inline constexpr int kPhiloxRounds = 10;

/// Philox4x32-10: four 32-bit words that a counter and a key name, the same on every machine. No
/// state: any place of the stream is had at once, in any order.
/// Source: Salmon, Moraes, Dror and Shaw 2011, doi:10.1145/2063384.2063405.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

}  // namespace volvelle
