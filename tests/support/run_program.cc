#include "support/run_program.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <stdexcept>

namespace volvelle::testing {

ProgramRun run_command(const std::string& command) {
  const std::string name = "volvelle";
  if (command.compare(0, name.size(), name) != 0) {
    throw std::invalid_argument("not a command of this program: " + command);
  }
  const std::string line = "'" VOLVELLE_PROGRAM "'" + command.substr(name.size());
  std::FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start a shell for: " + line);
  ProgramRun run;
  std::array<char, 4096> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    run.standard_output.append(buffer.data(), got);
  }
  const int status = pclose(pipe);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return run;
}

}  // namespace volvelle::testing
