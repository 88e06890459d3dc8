#pragma once

#include <cmath>
#include <cstdint>

#include "volvelle/nn/initial_values.h"
#include "volvelle/nn/initializer.h"

namespace volvelle {

/// T5's rule for what is looked up by offset: normal(0, 1 / sqrt(C)), whatever the initializer's
/// own rule is. Numbers of deviation 1 would drown the first scores.
inline void draw_offset_table(Variable& table, Initializer& initializer, std::int64_t width) {
  initializer.normal(table);
  scale_values(table, 1 / std::sqrt(static_cast<double>(width)));
}

}  // namespace volvelle
