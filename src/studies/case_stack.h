#pragma once

#include <vector>

#include "studies/norm_placement_draws.h"
#include "studies/norm_placement_plan.h"
#include "volvelle/nn/stack.h"

namespace volvelle {

/// The stack of a case, built once and given the numbers of one seed after another: the very bytes
/// that were drawn, and what others made of them (packed weights). Only what is measured is
/// differentiated.
class CaseStack {
 public:
  /// `drawn` are those of the case, in the dtype of `options`; each seed's have the same names.
  CaseStack(const PlacementPlan& plan, const PlacementCase& one, const StackOptions& options,
            const DrawnParameters& drawn);

  /// Takes the numbers as they are now: to be called for every seed.
  void take(const DrawnParameters& drawn);
  /// Leaves packed weights with the drawn ones, for the next stack that takes them.
  void hand_on(const DrawnParameters& drawn) const;

  const Stack& stack() const { return stack_; }
  /// What is asked for, layer by layer; nothing where the stream is measured.
  const std::vector<Variable>& asked() const { return asked_; }

 private:
  struct Shared {
    Variable parameter;
    std::size_t drawn;  // its place among the draws
  };

  Stack stack_;
  std::vector<Shared> shared_;
  std::vector<Variable> asked_;
};

}  // namespace volvelle
