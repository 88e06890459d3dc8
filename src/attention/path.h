#pragma once

#include <string>

#include "attention/resolved.h"
#include "volvelle/attention/attend.h"

namespace volvelle {

/// The path that takes a problem. `reason`, where given, receives why, in a sentence's part.
/// Throws Unsupported when the caller insists on a path that cannot.
AttentionPath choose_path(const ResolvedAttention& problem, AttentionPath wanted,
                          std::string* reason = nullptr);

}  // namespace volvelle
