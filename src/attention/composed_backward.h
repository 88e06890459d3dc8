#pragma once

#include <cstddef>

#include "attention/resolved_backward.h"

namespace volvelle {

/// Gradients operation by operation over one head's T x S matrices at a time, in float32 (float64
/// for float64), from the saved output and log-sum-exp. Throws InvalidArgument, naming the size and
/// the remedy, when one head's matrices do not fit `limit_bytes`.
void attend_backward_composed(const ResolvedAttention& problem, const ResolvedBackward& backward,
                              int threads, std::size_t limit_bytes = std::size_t{4} << 30);

}  // namespace volvelle
