#pragma once

#include "studies/norm_placement_plan.h"

namespace volvelle {

/// Bytes that the study holds at its fullest, about: as a number that no sizes make overflow.
double bytes_needed(const PlacementPlan& plan);

/// Throws InvalidArgument where this machine has fewer, with both sizes.
void check_memory(const PlacementPlan& plan);

}  // namespace volvelle
