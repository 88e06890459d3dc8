#include "volvelle/base/half.h"

#include <bit>
#include <cmath>

namespace volvelle {
namespace {

// Narrows a double to float32 by rounding to odd, so that a second rounding to a narrower format
// gives the same value as one rounding would: the lost bits stay visible as a sticky last bit.
float round_to_odd(double value) noexcept {
  float near = static_cast<float>(value);
  if (std::isnan(value) || std::isinf(near) || static_cast<double>(near) == value) return near;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(near);
  if (std::fabs(static_cast<double>(near)) > std::fabs(value)) bits -= 1;  // towards zero
  return std::bit_cast<float>(bits | 1u);
}

}  // namespace

float to_float(BFloat16 value) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

float to_float(Float16 value) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000u) << 16;
  const std::uint32_t exponent = (value.bits >> 10) & 0x1Fu;
  const std::uint32_t fraction = value.bits & 0x3FFu;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (fraction << 13));
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  }
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // subnormal: exact in float32
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

BFloat16 to_bfloat16(float value) noexcept {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
    return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};  // keep NaN a quiet NaN
  }
  bits += 0x7FFFu + ((bits >> 16) & 1u);
  return {static_cast<std::uint16_t>(bits >> 16)};
}

Float16 to_float16(float value) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint16_t sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return {static_cast<std::uint16_t>(sign | 0x7E00u)};
  if (magnitude >= 0x477FF000u) return {static_cast<std::uint16_t>(sign | 0x7C00u)};  // >= 65520
  if (magnitude < 0x38800000u) {  // subnormal in half: let the adder round at 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    const std::uint32_t fraction = std::bit_cast<std::uint32_t>(shifted) - 0x3F000000u;
    return {static_cast<std::uint16_t>(sign | fraction)};
  }
  const std::uint32_t rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);
  return {static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13))};
}

Float16 to_float16(double value) noexcept { return to_float16(round_to_odd(value)); }
BFloat16 to_bfloat16(double value) noexcept { return to_bfloat16(round_to_odd(value)); }

}  // namespace volvelle
