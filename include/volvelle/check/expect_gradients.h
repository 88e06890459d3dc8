#pragma once

#include <optional>
#include <string>
#include <vector>

#include "volvelle/attention/attend_backward.h"
#include "volvelle/attention/problem.h"
#include "volvelle/base/export.h"
#include "volvelle/check/compare.h"
#include "volvelle/check/diagnose.h"

namespace volvelle {

/// Another program's gradients of an attention problem: any of them. Each has the shape of the
/// problem's array of that name.
struct ExpectedGradients {
  View q = {};
  View k = {};
  View v = {};
  View bias = {};
  View slopes = {};
  View bias_table = {};
  View bucket_table = {};
  View sinks = {};
  std::optional<double> atol = {};
  std::optional<double> rtol = {};
};

/// One gradient beside ours.
struct GradientComparison {
  std::string name;  ///< "grad_q"
  Comparison comparison;
};

/// The verdict: matches when every gradient that was given does, in its shape.
struct GradientReport {
  bool matches = true;
  std::vector<GradientComparison> gradients;
  std::vector<Diagnosis> diagnosis;    ///< what explains those that differ
  std::vector<std::string> not_tried;  ///< faults that were too expensive to try, and why
};

/// What went into `attend_backward` and what came out.
struct GradientsComputed {
  View grad_output;
  const AttentionGradientResult& gradients;
};

/// Compares what `attend_backward` gave for `problem` with what another program gave and, where
/// they differ, names the mistakes that explain it: a factor missing (the scale, the group's sum
/// taken for a mean), a sum over query heads or over a bias's broadcast axes left out, delta or the
/// cap's slope forgotten, a mask or a bias that the backward pass does not know, ... An array in
/// another shape that shows the mistake (one gradient for each query head, a bias's gradient as
/// large as the scores, axes in another order) is brought to ours and diagnosed.
/// Work is bounded: faults are tried on the rows and heads that differ most and on some of the
/// rest.
/// Tolerances, where none are given: `relative_tolerance` by row, and absolutely what rounding of
/// grad_output . v leaves where the softmax's terms cancel.
/// Throws:  InvalidArgument for an array that is not floating, of a shape that fits no reading, or
///          that the problem has no array for; what `attend_backward` throws.
VOLVELLE_API GradientReport check_expected_gradients(const AttentionProblem& problem,
                                                     const GradientsComputed& ours,
                                                     const ExpectedGradients& theirs);

/// The names of all faults that `check_expected_gradients` knows beside those of `known_faults`,
/// with what each means.
VOLVELLE_API const std::vector<KnownFault>& known_gradient_faults();

}  // namespace volvelle
