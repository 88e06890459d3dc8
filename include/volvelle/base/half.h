#pragma once

#include <cstdint>

#include "volvelle/base/export.h"

namespace volvelle {

/// IEEE 754 binary16, held as bits.
struct Float16 {
  std::uint16_t bits;
};

/// The upper half of a float32, held as bits.
struct BFloat16 {
  std::uint16_t bits;
};

/// Exact widening.
VOLVELLE_API float to_float(Float16 value) noexcept;
VOLVELLE_API float to_float(BFloat16 value) noexcept;

/// Narrowing to the nearest value, ties to even; NaN stays NaN, overflow becomes infinity.
VOLVELLE_API Float16 to_float16(float value) noexcept;
VOLVELLE_API BFloat16 to_bfloat16(float value) noexcept;

/// Narrowing from double in one rounding (not by way of float32).
VOLVELLE_API Float16 to_float16(double value) noexcept;
VOLVELLE_API BFloat16 to_bfloat16(double value) noexcept;

}  // namespace volvelle
