#pragma once

#include <string>

namespace volvelle::testing {

/// What a run of the program left behind.
struct ProgramRun {
  int exit_code = -1;
  std::string standard_output;
};

/// Runs a command line as a reader would type it, `volvelle VERB ...`, in a shell, with the program
/// that this build made. Standard error passes through to the test's own.
ProgramRun run_command(const std::string& command);

}  // namespace volvelle::testing
