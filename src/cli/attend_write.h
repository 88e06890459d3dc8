#pragma once

#include "cli/attend_inputs.h"
#include "cli/attend_options.h"
#include "cli/attend_run.h"

namespace volvelle::cli {

/// Writes what was asked for to the file of --out: output, lse, the gradients, then
/// entropy, column_sums, weights, or all steps.
void write_results(const AttendInputs& inputs, const AttendRun& run, const AttendOptions& options);

}  // namespace volvelle::cli
