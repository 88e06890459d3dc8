#pragma once

#include <cstdint>
#include <string>

#include "cli/met_rows.h"
#include "volvelle/attention/attend.h"

namespace volvelle::cli {

/// How the rows of one head were turned: the angle of each pair at each position, one pair worked
/// by hand, then the turned queries and keys.
std::string turn_text(const AttentionProblem& problem, const AttentionPlan& plan,
                      const MetRows& met, const View& q, const View& k, int digits);

/// What the vectors of each offset add to the dot products: one cell by hand, then all of them.
std::string relative_text(const AttentionProblem& problem, const AttentionPlan& plan,
                          const MetRows& met, int digits);

/// The dot products of queries and keys alone, for problems whose scores hold more than that.
Tensor plain_products(const MetRows& met);

}  // namespace volvelle::cli
