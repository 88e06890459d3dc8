#pragma once

#include <cstdint>
#include <functional>

#include "check/properties/setting.h"
#include "volvelle/attention/problem.h"

namespace volvelle::properties {

/// What a cell of the score matrix becomes, given the score (capped, biases added) and whether the
/// query sees the key.
using Cell = std::function<double(double score, bool seen)>;

/// The same attention with every score written out as one dense bias (B,H,T,S) over queries and
/// keys that are 0: no scale, cap, other bias or exclusion is left. Sinks and dropout stay.
Setting with_scores_as_bias(const AttentionProblem& problem, const Cell& cell);

/// A problem without any option whose scores are exactly these: the queries are the rows of
/// `scores` (B,H,T,S), the keys a unit matrix, the scale 1.
Setting with_scores_as_products(const View& scores, const View& v);

/// Scores (B,H,T,S) as the formula has them, q . k times `scale`, in double.
Tensor scaled_products(const AttentionProblem& problem, double scale);

}  // namespace volvelle::properties
