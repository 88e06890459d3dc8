#include "cli/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "volvelle/report/number.h"

namespace volvelle::cli {
namespace {

constexpr double kOnTerminal = 0.1, kElsewhere = 5;  // seconds from one to the next
constexpr std::size_t kWidth = 79;                   // a full line would wrap on some terminals

std::string text_of(double done, const std::string& what, double seconds) {
  const double share = std::clamp(std::isfinite(done) ? done : 0.0, 0.0, 1.0);
  std::string text = std::to_string(static_cast<int>(share * 100)) + "%  " + what;
  if (share > 0.02 && seconds > 2) {
    text += "  (about " + duration(std::ceil(seconds * (1 - share) / share)) + " left)";
  }
  if (text.size() > kWidth) text.resize(kWidth);
  return text;
}

}  // namespace

ProgressLine::ProgressLine(std::ostream& out)
    : out_(out), terminal_(::isatty(STDERR_FILENO) == 1), begun_(Clock::now()), last_(begun_) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(double done, const std::string& what) {
  const Clock::time_point now = Clock::now();
  if (std::chrono::duration<double>(now - last_).count() < (terminal_ ? kOnTerminal : kElsewhere))
    return;
  last_ = now;
  const std::string text = text_of(done, what, std::chrono::duration<double>(now - begun_).count());
  if (terminal_) {
    out_ << '\r' << text << "\x1b[K" << std::flush;  // erase what was longer
    shown_ = true;
  } else {
    out_ << text << std::endl;
  }
}

void ProgressLine::clear() {
  if (terminal_ && shown_) out_ << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace volvelle::cli
