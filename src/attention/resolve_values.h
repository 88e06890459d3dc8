#pragma once

#include "attention/resolve_layout.h"
#include "attention/resolved.h"

namespace volvelle {

/// Checks that look at elements; each throws InvalidArgument, naming the first bad value and its
/// place.

/// keep: boolean, or integers that are 0 or 1. A floating mask is told that it is a bias.
void check_keep(const NamedView& keep);

/// A sink is a finite logit, or -inf for none: NaN or +inf would take the row whatever its keys.
void check_sinks(const Strided2& sinks);

/// Positions within +-2^30.
void check_positions(const char* name, const Strided2& positions);

/// Ids that a signed 64-bit integer holds, so that equality means equality.
void check_segments(const char* name, const Strided2& segments);

/// 0 <= length <= S.
void check_key_lengths(const ResolvedAttention& problem);

/// What explicit and implied offsets may be, given what reads them.
void check_offsets(const ResolvedAttention& problem);

}  // namespace volvelle
