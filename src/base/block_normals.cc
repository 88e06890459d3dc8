#include "base/block_normals.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/fused.h"

// Compiled without contraction: which of two products stays unrounded is part of the definition.
namespace volvelle {
namespace {

float bits(std::uint32_t pattern) { return std::bit_cast<float>(pattern); }
std::uint32_t bits(float number) { return std::bit_cast<std::uint32_t>(number); }

/// mask (all ones or none): a where it is set, b elsewhere.
float choose(std::uint32_t mask, float a, float b) {
  return bits((bits(a) & mask) | (bits(b) & ~mask));
}

// Single-precision polynomials of Moshier's Cephes, in the order of operations that PyTorch's
// compiler made of them. `fused` equals std::fma for every argument that can occur: compared for
// all 2^24.
inline float log_of(float number) {
  constexpr std::uint32_t kRootHalf = 0x3F3504F3u;
  const std::uint32_t pattern = bits(number);
  const std::uint32_t fraction = (pattern & 0x007FFFFFu) | 0x3F000000u;  // in [0.5, 1)
  const std::uint32_t below = 0u - static_cast<std::uint32_t>(fraction < kRootHalf);
  const auto exponent =
      static_cast<float>(static_cast<std::int32_t>((pattern >> 23) + below) - 126);
  const float x = (bits(fraction) - 1.0f) + bits(fraction & below);
  const float z = x * x;
  float y = bits(0x3D9021BBu);
  y = fused(y, x, bits(0xBDEBD1B8u));
  y = fused(y, x, bits(0x3DEF251Au));
  y = fused(y, x, bits(0xBDFE5D4Fu));
  y = fused(y, x, bits(0x3E11E9BFu));
  y = fused(y, x, bits(0xBE2AAE50u));
  y = fused(y, x, bits(0x3E4CCEACu));
  y = fused(y, x, bits(0xBE7FFFFCu));
  y = fused(y, x, bits(0x3EAAAAAAu));
  y = y * x;
  y = fused(y, z, exponent * bits(0xB95E8083u));
  y = y - 0.5f * z;
  return fused(exponent, bits(0x3F318000u), x + y);
}

inline void sine_cosine_of(float angle, float& sine, float& cosine) {
  const auto octant = static_cast<std::int32_t>(angle * bits(0x3FA2F983u));
  const std::int32_t j = (octant + 1) & ~1;
  const auto turns = static_cast<float>(j);
  float x = fused(turns, bits(0xBF490000u), angle);
  x = fused(turns, bits(0xB97DA000u), x);
  x = fused(turns, bits(0xB3222169u), x);
  const float z = x * x;
  float p = bits(0x37CCF5CEu);
  p = fused(p, z, bits(0xBAB6061Au));
  p = fused(p, z, bits(0x3D2AAAA5u));
  p = p * z;
  p = fused(p, z, -(0.5f * z)) + 1.0f;
  float s = bits(0xB94CA1F9u);
  s = fused(s, z, bits(0x3C08839Eu));
  s = fused(s, z, bits(0xBE2AAAA3u));
  s = s * z;
  s = fused(s, x, x);
  const auto pattern = static_cast<std::uint32_t>(j);
  const std::uint32_t exchanged = 0u - ((pattern >> 1) & 1u);
  const std::uint32_t sine_sign = (pattern & 4u) << 29;
  const std::uint32_t cosine_sign = (~(pattern - 2u) & 4u) << 29;
  sine = bits(bits(choose(exchanged, p, s)) ^ sine_sign);
  cosine = bits(bits(choose(exchanged, s, p)) ^ cosine_sign);
}

constexpr std::size_t kHalf = kNormalBlock / 2;
constexpr std::size_t kTogether = 8;  // blocks

/// The same for exactly `kPairs` pairs that lie apart, so that the loop has a length that the
/// compiler knows.
template <std::size_t kPairs>
void transform(const float* __restrict first, const float* __restrict second,
               float* __restrict cosines, float* __restrict sines) {
  constexpr float kTwoPi = 6.283185307179586f;
  for (std::size_t i = 0; i < kPairs; ++i) {
    const float radius = std::sqrt(-2.0f * log_of(1.0f - first[i]));
    float sine, cosine;
    sine_cosine_of(kTwoPi * second[i], sine, cosine);
    cosines[i] = radius * cosine;
    sines[i] = radius * sine;
  }
}

template <std::size_t kBlocks>
void transform_blocks(float* slots) {
  constexpr std::size_t kPairs = kBlocks * kHalf;
  float first[kPairs], second[kPairs], cosines[kPairs], sines[kPairs];
  for (std::size_t block = 0; block < kBlocks; ++block) {
    for (std::size_t j = 0; j < kHalf; ++j) {
      first[block * kHalf + j] = slots[block * kNormalBlock + j];
      second[block * kHalf + j] = slots[block * kNormalBlock + kHalf + j];
    }
  }
  transform<kPairs>(first, second, cosines, sines);
  for (std::size_t block = 0; block < kBlocks; ++block) {
    for (std::size_t j = 0; j < kHalf; ++j) {
      slots[block * kNormalBlock + j] = cosines[block * kHalf + j];
      slots[block * kNormalBlock + kHalf + j] = sines[block * kHalf + j];
    }
  }
}

}  // namespace

float block_log(float number) { return log_of(number); }

void block_sine_cosine(float angle, float& sine, float& cosine) {
  sine_cosine_of(angle, sine, cosine);
}

void normals_from_units(std::span<float> slots, float mean, float deviation) {
  const std::size_t blocks = slots.size() / kNormalBlock;
  std::size_t block = 0;
  for (; block + kTogether <= blocks; block += kTogether) {
    transform_blocks<kTogether>(slots.data() + block * kNormalBlock);
  }
  for (; block < blocks; ++block) transform_blocks<1>(slots.data() + block * kNormalBlock);
  if (mean == 0) {
    // Rounded once as it stands; the sum makes +0 of -0, as a fused one does.
    for (float& slot : slots) slot = slot * deviation + 0.0f;
  } else {
    for (float& slot : slots) slot = std::fma(slot, deviation, mean);
  }
}

}  // namespace volvelle
