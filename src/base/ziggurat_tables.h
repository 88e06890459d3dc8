#pragma once

#include <cstdint>

namespace volvelle {

/// Tables of NumPy's ziggurat of 256 strips for normal numbers: of strip i, `kZigguratWidth[i]` is
/// its width over 2^52, `kZigguratInside[i]` the numbers below which a point is under the curve
/// whatever its height, `kZigguratHeight[i]` the curve where it ends. Made with a strip area 4 ulp
/// from the exact one and a C library of its day, so written down and not computed.
/// Source: Marsaglia and Tsang 2000, doi:10.18637/jss.v005.i08; numpy/random/src/distributions.
extern const std::uint64_t kZigguratInside[256];
extern const double kZigguratWidth[256];
extern const double kZigguratHeight[256];

/// Where the tail begins, and its inverse.
inline constexpr double kZigguratTail = 0x1.d3bb48209ad33p+1;
inline constexpr double kZigguratTailInverse = 0.27366123732975827203338247596;

}  // namespace volvelle
