#pragma once

#include <cstdint>
#include <string>

#include "volvelle/base/export.h"

namespace volvelle {

/// The shortest text that reads back as the same value: as float32 for float, as float64 for
/// double. "nan", "inf" and "-inf" for what is not finite.
VOLVELLE_API std::string shortest(float value);
VOLVELLE_API std::string shortest(double value);

/// For reading: at most `digits` digits after the point, trailing zeros left out ("0.7071", "2").
/// Values too large for that, or that would show as a false 0, are written with an exponent and
/// `digits` significant digits ("1.2e-07").
VOLVELLE_API std::string rounded(double value, int digits);

/// Exactly `digits` digits after the point ("0.080"); what that would show as a false 0, or is too
/// large for it, as `rounded` writes it.
VOLVELLE_API std::string fixed(double value, int digits);

/// A mantissa with exactly `digits` digits after its point, and an exponent: "1.100e+12".
VOLVELLE_API std::string scientific(double value, int digits);

/// With thousands separators: "65,536".
VOLVELLE_API std::string grouped(std::int64_t value);

/// Three significant digits and a unit: "1.24 ms", "830 ns".
VOLVELLE_API std::string duration(double seconds);

}  // namespace volvelle
