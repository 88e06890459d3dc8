#pragma once

#include "attention/resolved.h"
#include "check/gradient_pair.h"

namespace volvelle {

/// How far two correct programs' gradients may differ, in the one place for it. Relative to a row:
/// what `relative_tolerance` says for the length of the sum. Absolutely: dS = P (dP - delta)
/// cancels, in rows with one key entirely, and leaves rounding of dP = grad_output . v behind.
class GradientTolerance {
 public:
  GradientTolerance(const ResolvedAttention& resolved, const AttentionProblem& problem,
                    const View& grad_output);

  /// For one gradient; `given` holds the caller's own tolerances, which go first.
  CompareOptions options_for(const GradientPair& pair, const ExpectedGradients& given) const;

 private:
  double left_by_cancellation(GradientOf of) const;
  std::int64_t terms(GradientOf of, const View& ours) const;

  const ResolvedAttention& r_;
  double grad_weights_ = 0;  // size of grad_output . v
  double q_ = 0, k_ = 0;
};

}  // namespace volvelle
