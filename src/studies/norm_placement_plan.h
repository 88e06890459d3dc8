#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "studies/layer_parameter.h"
#include "volvelle/studies/norm_placement.h"

namespace volvelle {

/// One row of the study: a kind of stack.
struct PlacementCase {
  std::int64_t depth = 0;
  std::string placement = {};
  NormKind norm = NormKind::layer;
  std::size_t draws = 0;  ///< the entry of `PlacementPlan::draws` that it starts from
};

/// Stacks that can start from the same numbers: of the depths of one such entry, all are the first
/// layers of the deepest.
struct SharedDraws {
  std::string placement;             ///< one whose layers draw what those of all of them draw
  std::vector<std::int64_t> depths;  ///< ascending
};

/// What is to be measured, checked.
struct PlacementPlan {
  NormPlacementOptions options = {};
  LayerParameter parameter = {};
  std::vector<PlacementCase> cases = {};  ///< depth by depth, norm by norm, in the order asked for
  std::vector<SharedDraws> draws = {};
  int runs_at_once = 1;    ///< seeds that are measured side by side
  int threads_of_run = 1;  ///< threads of each of them
};

/// Throws InvalidArgument as study_norm_placement does.
PlacementPlan plan_norm_placement(const NormPlacementOptions& options, int threads);

/// The stack of a case, in float32 or, to repeat it, in float64.
StackOptions stack_of(const PlacementPlan& plan, const PlacementCase& one,
                      DType dtype = DType::float32);

/// "12 layers post, layer norm"
std::string title_of(const PlacementPlan& plan, const PlacementCase& one);

}  // namespace volvelle
