#pragma once

#include "studies/norm_placement_run.h"

namespace volvelle {

/// Two measurements of one gradient that differ by more than this part of the larger have too
/// little in common to be read.
inline constexpr double kAgreementBound = 0.1;

/// In the repetition norms have this part of their epsilon, which only guards a division: a
/// gradient that is there because of epsilon is not a property of the network either.
inline constexpr double kRepeatedEpsilon = 1e-6;

/// What came of doing a run once more in double.
struct Agreement {
  std::vector<double> norms;  ///< of each layer's gradient in double
  double disagreement = 0;    ///< largest over layers: |single - double| / the larger norm
  bool is_noise() const { return !(disagreement <= kAgreementBound); }
};

/// `run` is what `how` gave for the stack of `options`, and has kept its gradients; `doubles` are
/// the parameters of the draws in float64.
Agreement repeat_in_double(const PlacementPlan& plan, const PlacementCase& one,
                           StackOptions options, const SeedDraws& draws,
                           const DrawnParameters& doubles, const Tensor& labels,
                           const RunOptions& how, const PlacementRun& run);

}  // namespace volvelle
