#pragma once

#include "attention/resolved.h"
#include "check/view_part.h"
#include "volvelle/attention/problem.h"

namespace volvelle {

/// Some batch rows and query heads of a problem, as a problem of its own: every query, every key,
/// the same answers. The heads are those of whole groups, or belong to one group.
AttentionProblem problem_part(const AttentionProblem& whole, const ResolvedAttention& resolved,
                              const Span& batch, const Span& heads);

}  // namespace volvelle
