#pragma once

#include <string>

#include "attention/resolved_backward.h"
#include "volvelle/attention/attend.h"

namespace volvelle {

/// The path that runs when `wanted` is asked for; `reason` (may be null) says why. Throws
/// Unsupported when the fused path is asked for and cannot take the problem.
AttentionPath choose_backward_path(const ResolvedAttention& problem,
                                   const ResolvedBackward& backward, AttentionPath wanted,
                                   std::string* reason = nullptr);

}  // namespace volvelle
