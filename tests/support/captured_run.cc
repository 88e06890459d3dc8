#include "support/captured_run.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace volvelle::testing {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

pid_t started(const std::vector<std::string>& arguments, const std::string& out,
              const std::string& err) {
  std::vector<std::string> words{VOLVELLE_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = -1;
  const int failed =
      posix_spawn(&child, VOLVELLE_PROGRAM, &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot start " VOLVELLE_PROGRAM);
  return child;
}

void wait_for(pid_t child, CapturedRun& run) {
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.peak_kilobytes = usage.ru_maxrss;
}

}  // namespace

CapturedRun captured_run(const std::vector<std::string>& arguments,
                         const std::string& stdout_path) {
  const ScratchFolder folder;
  const std::string out = stdout_path.empty() ? folder / "out" : stdout_path;
  CapturedRun run;
  wait_for(started(arguments, out, folder / "err"), run);
  if (stdout_path.empty()) run.out = contents(out);
  run.err = contents(folder / "err");
  return run;
}

CapturedRun interrupted_run(const std::vector<std::string>& arguments, int signal,
                            double after_seconds, int times) {
  const ScratchFolder folder;
  const pid_t child = started(arguments, folder / "out", folder / "err");
  for (int i = 0; i < times; ++i) {
    std::this_thread::sleep_for(std::chrono::duration<double>(after_seconds));
    kill(child, signal);
  }
  CapturedRun run;
  wait_for(child, run);
  run.out = contents(folder / "out");
  run.err = contents(folder / "err");
  return run;
}

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "volvelle-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder " + name);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace volvelle::testing
