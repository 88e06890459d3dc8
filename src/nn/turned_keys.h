#pragma once

#include <cstdint>
#include <span>

#include "volvelle/attention/attend_variable.h"
#include "volvelle/tensor/tensor.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// Keys as a cache keeps them where they are turned before they are appended. k (B,G,n,D), any
/// floating dtype and strides; key i of row b stands at starts[b] + i, a row of every table.
/// Result: float32, as attention would have turned them on the way.
Tensor turned_keys(const View& k, const RotaryTables& rotary, std::span<const std::int64_t> starts,
                   int threads);

}  // namespace volvelle
