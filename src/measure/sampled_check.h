#pragma once

#include "volvelle/attention/problem.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// The largest absolute difference between `output` (B,H,T,E) and the oracle on up to 24 rows:
/// the first and the last of some heads and rows spread over all. Throws InternalError when a row
/// is further off than rounding explains (`relative_tolerance`).
double check_sampled_rows(const AttentionProblem& problem, const View& output);

}  // namespace volvelle
