#pragma once

#include <string>

#include "cli/attend_inputs.h"
#include "cli/attend_options.h"
#include "cli/attend_run.h"
#include "volvelle/check/expect.h"

namespace volvelle::cli {

/// Reads the file of --expect and compares. Its axes come in the order of the input's.
ExpectReport compare_with_file(const AttendInputs& inputs, const AttendRun& run,
                               const AttendOptions& options);

/// The verdict for people.
std::string expect_text(const ExpectReport& report, const std::string& file, int digits);

}  // namespace volvelle::cli
