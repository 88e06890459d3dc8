#pragma once

#include "attention/resolved.h"
#include "volvelle/attention/problem.h"

namespace volvelle {

/// The part of resolve() that lays out relative vectors, once sizes are known. Throws
/// InvalidArgument for shapes other than (2M+1, D or E) and (H, 2M+1, D or E), and for other types
/// than floating ones.
void lay_out_relative_vectors(const AttentionProblem& problem, ResolvedAttention& resolved);

/// Fills in which of their entries the problem's positions, which are checked by then, can reach.
void find_reached_entries(ResolvedAttention& resolved);

}  // namespace volvelle
