#pragma once

#include "volvelle/attention/attend_backward.h"

namespace volvelle {

/// The largest absolute difference of the gradients of q, k and v from the oracle on up to 24 rows
/// of each, chosen as by `check_sampled_rows`. Throws InternalError when a row is further off than
/// rounding explains.
double check_sampled_gradients(const AttentionProblem& problem, const AttentionSaved& saved,
                               const View& grad_output, const AttentionGradients& gradients);

}  // namespace volvelle
