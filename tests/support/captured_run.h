#pragma once

#include <string>
#include <vector>

namespace volvelle::testing {

/// What a run of the program left behind, its two streams apart.
struct CapturedRun {
  int exit_code = -1;  ///< 128 + signal where one ended it
  std::string out;
  std::string err;
  long peak_kilobytes = 0;  ///< most memory that was resident, mapped files included
};

/// Runs this build's program with these arguments, no shell in between; `stdout_path` sends its
/// stdout there instead of capturing it.
CapturedRun captured_run(const std::vector<std::string>& arguments,
                         const std::string& stdout_path = "");

/// The same, with the signal sent to it after that long, `times` times.
CapturedRun interrupted_run(const std::vector<std::string>& arguments, int signal,
                            double after_seconds, int times = 1);

/// A folder of its own that goes away with the object.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + '/' + name; }

 private:
  std::string path_;
};

/// Writes bytes to a file and returns its path.
std::string write_file(const std::string& path, const std::string& bytes);

}  // namespace volvelle::testing
