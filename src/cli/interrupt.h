#pragma once

namespace volvelle::cli {

/// Ctrl-C and SIGTERM end the program at once, with 130 and 143; a closed pipe ends it silently.
void install_signal_handlers();

/// While one lives, an interrupt waits: it takes effect when the last one goes, or when a second
/// one comes.
class InterruptsHeld {
 public:
  InterruptsHeld();
  ~InterruptsHeld();
  InterruptsHeld(const InterruptsHeld&) = delete;
  InterruptsHeld& operator=(const InterruptsHeld&) = delete;

  /// Whether one waits: time to come to an end.
  static bool pending();
};

}  // namespace volvelle::cli
