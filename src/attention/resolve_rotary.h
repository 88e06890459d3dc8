#pragma once

#include "attention/resolved.h"

namespace volvelle {

/// Lays the tables of `problem.rotary` out and looks at every position that they are asked for;
/// after offsets and positions. Throws InvalidArgument.
void lay_out_rotary(const AttentionProblem& problem, ResolvedAttention& resolved);

}  // namespace volvelle
