#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "volvelle/tensor/view.h"

namespace volvelle {

/// A foreign output whose axes stand in another order, seen in ours.
struct OutputReading {
  std::string axes;  ///< "(B,T,H,E)"
  View view;         ///< (B,H,T,E)
};

/// Every other order of axes that an output of this shape fits; (b,h,t,e) is our shape.
std::vector<OutputReading> other_readings(const View& output, const std::int64_t (&ours)[4]);

}  // namespace volvelle
