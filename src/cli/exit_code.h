#pragma once

namespace volvelle::cli {

/// What the program says to the shell.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,       ///< a file or the system failed
  kUsage = 2,        ///< the request breaks a rule: options, shapes, values
  kCheckFailed = 3,  ///< a comparison came out above its tolerance
  kInterrupted = 130,
};

}  // namespace volvelle::cli
