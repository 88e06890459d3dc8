#pragma once

#include <string>
#include <vector>

#include "attention/oracle_backward.h"
#include "attention/resolved.h"
#include "check/gradient_pair.h"
#include "volvelle/attention/problem.h"

namespace volvelle {

/// Which of the query heads and batch rows that share an element reach its gradient.
enum class Reaching : unsigned char {
  all,
  last,  ///< each overwrote the one before it
};

/// One way to get gradients wrong, ready to be run.
struct GradientFaultCandidate {
  std::string fault;             ///< a name of known_gradient_faults() or known_faults()
  std::string what;              ///< behind "your grad_q equals ours" or "... that of attention"
  bool other_attention = false;  ///< the gradients of another attention, not ours done wrong
  AttentionProblem problem;
  bool (*concerns)(GradientOf) = [](GradientOf) { return true; };
  BackwardFault inside = BackwardFault::none;
  Reaching reaching = Reaching::all;
  std::vector<Tensor> owned = {};  ///< what views of `problem` point to, if it is not the user's
};

/// Every fault that this problem can have and that takes a computation to see: mistakes of a
/// backward pass, and forward faults that are changes of the problem.
std::vector<GradientFaultCandidate> gradient_faults(const AttentionProblem& problem,
                                                    const ResolvedAttention& resolved);

}  // namespace volvelle
