#pragma once

#include <vector>

#include "studies/case_stack.h"
#include "studies/norm_placement_draws.h"
#include "studies/norm_placement_plan.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// How one run is done.
struct RunOptions {
  PlacementLoss loss = PlacementLoss::labels;
  bool keep_gradients = false;
  int threads = 1;
};

/// What one stack of one seed gave.
struct PlacementRun {
  double loss = 0;
  std::vector<double> norms;      ///< of each layer's gradient
  std::vector<Tensor> gradients;  ///< themselves, where they were to be kept

  // Where the stream is measured:

  /// What each layer multiplies the gradient's norm by on the way back: that at its input over that
  /// at its output.
  std::vector<double> factors;
  /// How much of the gradient at a layer's output is found again in that at its input: 1 where an
  /// untouched copy arrives and what the branches add to it is at right angles.
  std::vector<double> copies;
  double copy_through = 0;  ///< the same from the stack's output to its input
  // Kept with the gradients: the last layer's input, what its first step adds to it, and the
  // gradient at its output.
  Tensor last_input, last_branch, gradient_out;

  double ratio() const { return norms.back() / norms.front(); }
};

/// Forward, backward, norms: of a stack that has taken these draws. Labels are those of the seed.
PlacementRun run_case(const PlacementPlan& plan, const PlacementCase& one, const CaseStack& built,
                      const SeedDraws& draws, const Tensor& labels, const RunOptions& how);

}  // namespace volvelle
