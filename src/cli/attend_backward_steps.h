#pragma once

#include <string>
#include <vector>

#include "cli/attend_inputs.h"
#include "cli/attend_run.h"
#include "cli/attend_steps.h"

namespace volvelle::cli {

/// The way back through one head, from what comes back to the output to dQ, dK and dV, in the form
/// of step_sections; `run.backward->steps` must be there.
std::vector<StepSection> backward_sections(const AttendInputs& inputs, const AttendRun& run,
                                           std::int64_t batch, std::int64_t head, int digits);

}  // namespace volvelle::cli
