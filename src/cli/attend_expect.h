#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/attend_inputs.h"
#include "cli/attend_options.h"
#include "cli/attend_run.h"
#include "volvelle/check/expect.h"
#include "volvelle/check/expect_gradients.h"

namespace volvelle::cli {

/// How a run compares with the file of --expect.
struct ExpectOutcome {
  std::optional<ExpectReport> output;       ///< absent where the file has gradients only
  std::optional<GradientReport> gradients;  ///< absent where the file has none, or no --backward
  std::vector<std::string> remarks;         ///< for stderr: what was left out

  bool matches() const {
    return (!output || output->matches) && (!gradients || gradients->matches);
  }
};

/// Reads the file of --expect and compares. Its axes come in the order of the input's.
ExpectOutcome compare_with_file(const AttendInputs& inputs, const AttendRun& run,
                                const AttendOptions& options);

/// The verdict for people.
std::string expect_text(const ExpectOutcome& outcome, const std::string& file, int digits);

}  // namespace volvelle::cli
