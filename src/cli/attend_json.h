#pragma once

#include <optional>
#include <ostream>

#include "cli/attend_expect.h"
#include "cli/attend_run.h"

namespace volvelle::cli {

/// What the document of `attend --json` holds beyond the plan.
struct AttendDocument {
  const AttendInputs& inputs;
  const AttendRun& run;
  const AttendOptions& options;
  const std::optional<ExpectOutcome>& expect;
};

/// One document: shapes, path, reason, simd, threads, scale, milliseconds, the arrays asked for
/// (unless they went to a file) and the comparison. Excluded scores are null.
void write_json(std::ostream& out, const AttendDocument& document);

/// The same for --explain: no arrays, no time; `backward` with --backward.
void write_plan_json(std::ostream& out, const AttendInputs& inputs, const AttentionPlan& plan,
                     const std::optional<AttentionBackwardPlan>& backward, int threads);

const char* name_of_path(AttentionPath path);

}  // namespace volvelle::cli
