#include "cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace volvelle::cli {
namespace {

std::atomic<int> held{0};
std::atomic<int> waiting{0};

// Only what a signal handler may do: a write and an end.
void end_with(int signal) {
  static constexpr char kMessage[] = "\ninterrupted\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  ::_exit(128 + signal);
}

void handle(int signal) {
  // The second one does not wait: whoever sends it has waited long enough.
  if (held.load() == 0 || waiting.exchange(signal) != 0) end_with(signal);
}

}  // namespace

void install_signal_handlers() {
  static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");
  std::signal(SIGINT, handle);
  std::signal(SIGTERM, handle);
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is an error to report and to clean up after
  std::signal(SIGPIPE, SIG_DFL);  // whoever started us may have it ignored
}

InterruptsHeld::InterruptsHeld() { held.fetch_add(1); }

InterruptsHeld::~InterruptsHeld() {
  if (held.fetch_sub(1) == 1 && waiting.load() != 0) end_with(waiting.load());
}

bool InterruptsHeld::pending() { return waiting.load() != 0; }

}  // namespace volvelle::cli
