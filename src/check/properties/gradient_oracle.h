#pragma once

#include "attention/oracle_backward.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/attention/problem.h"

namespace volvelle::properties {

/// Every gradient that the problem has, by the oracle, in the computing type.
AttentionGradientResult oracle_gradients(const AttentionProblem& problem, const View& grad_output,
                                         BackwardFault fault = BackwardFault::none,
                                         GradientSum sum = GradientSum::terms);

}  // namespace volvelle::properties
