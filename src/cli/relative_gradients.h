#pragma once

#include <optional>

#include "volvelle/attention/attend_backward.h"
#include "volvelle/check/expect_gradients.h"

namespace volvelle::cli {

/// Another program's gradients of the vectors by offset.
struct RelativeGradients {
  Tensor keys, queries, values;
  std::optional<double> atol = {}, rtol = {};

  bool any() const { return keys || queries || values; }
};

/// Compares them with ours and adds them to a report. Which mistake explains a difference is not
/// looked for, and the report says so. Throws UsageError for a gradient of an array that the
/// problem does not have, or of another shape.
void compare_relative(const AttentionProblem& problem, const AttentionGradientResult& ours,
                      const RelativeGradients& theirs, GradientReport& report);

}  // namespace volvelle::cli
