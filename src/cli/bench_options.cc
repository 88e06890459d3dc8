#include "cli/bench_options.h"

#include "cli/interrupt.h"
#include "volvelle/attention/simd.h"

namespace volvelle::cli {

void BenchOptions::declare(CommandLine& line) {
  line.group("How");
  line.integer("--threads", threads_, "N", "at most N threads (all CPUs)");
  line.text("--simd", simd_, "NAME", "instruction set; `volvelle --version` lists them");
  line.number("--seconds", seconds_, "X", "spent on timing each row, about (0.5)");
  line.flag("--json", json_, "one JSON document on stdout");
}

void BenchOptions::declare_rotation(CommandLine& line) {
  line.number("--rotate", rotate_, "MB", "cold data is rotated through about that much (400)");
}

MeasureOptions BenchOptions::measure_options() const {
  if (threads_ && (*threads_ < 1 || *threads_ > 1024)) {
    throw UsageError("--threads takes 1 to 1024");
  }
  if (seconds_ && !(*seconds_ > 0 && *seconds_ <= 3600)) {
    throw UsageError("--seconds takes a number above 0, at most 3600");
  }
  if (rotate_ && !(*rotate_ > 0 && *rotate_ <= 1e6)) {
    throw UsageError("--rotate takes a number above 0, at most 1000000");
  }
  if (simd_) set_simd_target(*simd_);
  MeasureOptions how;
  how.threads = static_cast<int>(threads_.value_or(0));
  how.seconds = seconds_.value_or(how.seconds);
  if (rotate_) how.cold_bytes = static_cast<std::size_t>(*rotate_ * 1e6);
  how.stopped = [] { return InterruptsHeld::pending(); };
  return how;
}

void at_least_one(const char* option, const std::optional<std::int64_t>& value) {
  if (value && *value < 1) throw UsageError(std::string(option) + " must be at least 1");
}

}  // namespace volvelle::cli
