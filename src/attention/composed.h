#pragma once

#include "attention/resolved.h"

namespace volvelle {

/// Operation by operation over one head's T x S matrix at a time, in float32 (float64 for
/// float64). Throws InvalidArgument, naming the size and the remedy, when one head's matrix does
/// not fit `limit_bytes`.
void attend_composed(const ResolvedAttention& problem, const ResolvedOutputs& outputs, int threads,
                     std::size_t limit_bytes = std::size_t{4} << 30);

}  // namespace volvelle
