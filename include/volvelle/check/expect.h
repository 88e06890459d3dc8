#pragma once

#include <optional>
#include <string>
#include <vector>

#include "volvelle/attention/attend.h"
#include "volvelle/attention/problem.h"
#include "volvelle/base/export.h"
#include "volvelle/check/compare.h"
#include "volvelle/check/diagnose.h"

namespace volvelle {

/// Another program's answer to an attention problem.
struct Expected {
  View output = {};  ///< (B,H,T,E), rank 2 to 4
  View lse = {};     ///< (B,H,T); may be absent
  std::optional<double> atol = {};
  std::optional<double> rtol = {};
};

/// Its verdict: matches when output, layout and, where given, log-sum-exp all do.
struct ExpectReport {
  bool matches = true;
  Comparison output;
  std::optional<Comparison> lse;
  std::vector<Diagnosis> diagnosis;    ///< every known fault that reproduces the file
  std::vector<std::string> not_tried;  ///< faults that were too expensive to try, and why
};

/// Compares what `attend` gave for `problem` with what another program gave and, on a mismatch,
/// names the faults that explain it (`diagnose`). An output whose axes are another order of ours
/// ((B,T,H,E), or heads merged into (B,T,H*E)) is compared in that order and diagnosed as `layout`.
/// Shapes:  `ours` as `attend` makes it for the problem; its lse may be absent when theirs is.
/// Throws:  InvalidArgument for an output or lse that is absent, not floating or of a shape that
///          fits no reading.
VOLVELLE_API ExpectReport check_expected(const AttentionProblem& problem,
                                         const AttentionResult& ours, const Expected& theirs);

}  // namespace volvelle
