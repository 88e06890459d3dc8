#pragma once

#include <string>

#include "volvelle/attention/problem.h"

namespace volvelle::cli {

/// "Gradients of the fused path equal the oracle's: yes, ..." as a paragraph. Runs every path, so
/// it is for small problems.
std::string gradient_agreement_text(const AttentionProblem& problem, const View& grad_output,
                                    int threads);

}  // namespace volvelle::cli
