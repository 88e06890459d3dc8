#pragma once

#include <chrono>
#include <ostream>
#include <string>

namespace volvelle::cli {

/// How far something long has come: on a terminal one line that is written over, elsewhere a plain
/// line every few seconds, and nothing for what is done before that.
class ProgressLine {
 public:
  /// `out` is stderr, or stands in for it.
  explicit ProgressLine(std::ostream& out);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// `done` from 0 to 1. May be called as often as one likes.
  void show(double done, const std::string& what);
  /// Leaves nothing of it on a terminal.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::ostream& out_;
  bool terminal_;
  Clock::time_point begun_, last_;
  bool shown_ = false;
};

}  // namespace volvelle::cli
