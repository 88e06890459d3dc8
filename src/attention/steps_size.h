#pragma once

#include <cstddef>
#include <cstdint>

#include "attention/resolved.h"

namespace volvelle {

/// Throws InvalidArgument, naming the size and the remedy, when keeping `pair_bytes` bytes for
/// every (B,H,T,S) pair takes more than `limit_bytes`.
void check_steps_size(const char* operation, const ResolvedAttention& problem,
                      std::int64_t pair_bytes, std::size_t limit_bytes);

}  // namespace volvelle
