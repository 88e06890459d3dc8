#pragma once

#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/measure/attention_case.h"

namespace volvelle {

/// 2 (3 D + 2 E) operations for each pair of a query and a key it sees: q . k again, grad_output .
/// v, and the sums into the gradients of v, q and k.
VOLVELLE_API double backward_operations(const AttentionCase& shape);

/// As `measure_attention`, for the gradients of q, k and v: `attend` runs once and is checked, what
/// `attend_backward` makes of its output and log-sum-exp is checked against the oracle on sampled
/// rows of each gradient, then `attend_backward` alone is timed.
/// Throws:  as `measure_attention`.
VOLVELLE_API AttentionFigures measure_backward(const AttentionCase& shape,
                                               const MeasureOptions& options = {});

/// Those of `attention_cases` with 512 queries or more.
VOLVELLE_API const std::vector<AttentionCase>& backward_cases();

}  // namespace volvelle
