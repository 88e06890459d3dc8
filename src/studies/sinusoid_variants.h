#pragma once

#include <string>
#include <vector>

#include "studies/position_rows.h"

namespace volvelle {

/// A way of making the table, the right one or one that goes wrong.
struct SinusoidVariant {
  std::string key;   ///< "half_positions"
  std::string name;  ///< "positions and rates in float16"
  PositionRows (*make)(std::int64_t rows, std::int64_t width, double base);
};

enum TableVariant : std::size_t {
  kByScheme,        ///< the one that the library adds to tokens
  kHalfExponent,    ///< i/d in place of 2i/d
  kHalfPositions,   ///< positions and rates held in float16
  kBrainPositions,  ///< in bfloat16
  kHalfAngles,      ///< angles made in double, then cast to float16
  kHalfTable,       ///< the finished table cast to float16
  kTableVariants
};

/// By TableVariant.
const std::vector<SinusoidVariant>& sinusoid_variants();

}  // namespace volvelle
