#pragma once

#include "attention/resolved.h"

namespace volvelle {

/// The parts of resolve() that follow the sizes: additive biases with their positions, and what
/// excludes keys. Both read the sizes and numbers that `resolved` has by then, and throw
/// InvalidArgument.
void lay_out_biases(const AttentionProblem& problem, ResolvedAttention& resolved);
void lay_out_exclusion(const AttentionProblem& problem, ResolvedAttention& resolved);

}  // namespace volvelle
