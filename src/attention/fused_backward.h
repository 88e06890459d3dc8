#pragma once

#include "attention/resolved.h"
#include "attention/resolved_backward.h"

namespace volvelle {

/// Why the fused backward cannot take a problem; nullptr when it can.
const char* fused_backward_refusal(const ResolvedAttention& problem,
                                   const ResolvedBackward& backward);

/// Every gradient asked for, tile by tile, from the saved output and log-sum-exp.
void attend_backward_fused(const ResolvedAttention& problem, const ResolvedBackward& backward,
                           int threads);

}  // namespace volvelle
