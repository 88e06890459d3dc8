#pragma once

#include <optional>

#include "volvelle/attention/attend.h"

namespace volvelle::cli {

/// How many pairs of a query and a key it sees there are, over all heads. Absent when a keep mask
/// or segments decide: counting those would take as long as attention.
std::optional<double> seen_pairs(const AttentionProblem& problem, const AttentionPlan& plan);

}  // namespace volvelle::cli
