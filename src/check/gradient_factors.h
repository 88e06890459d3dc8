#pragma once

#include <vector>

#include "attention/resolved.h"
#include "check/gradient_pair.h"
#include "volvelle/check/diagnose.h"

namespace volvelle {

/// Explains gradients that differ from ours by one factor throughout: the scale left out or used
/// twice, a mean where a sum belongs, a sign, a grad_output that was scaled, nothing at all; and
/// those that are another of ours. Marks what it explains.
void explain_by_factor(const ResolvedAttention& resolved, GradientPairs& pairs,
                       std::vector<Diagnosis>& found);

}  // namespace volvelle
