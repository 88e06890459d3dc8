#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command_line.h"
#include "volvelle/measure/figures.h"

namespace volvelle::cli {

/// The options that every benchmark has: threads, instruction set, time, JSON.
class BenchOptions {
 public:
  /// Under the title "How".
  void declare(CommandLine& line);
  /// --rotate, behind the others: for benchmarks whose data comes from memory.
  void declare_rotation(CommandLine& line);
  /// Throws UsageError for values that no benchmark takes; chooses the instruction set.
  MeasureOptions measure_options() const;
  bool json() const { return json_; }
  bool rotates() const { return rotate_.has_value(); }

 private:
  std::optional<std::string> simd_;
  std::optional<std::int64_t> threads_;
  std::optional<double> seconds_, rotate_;
  bool json_ = false;
};

/// Throws UsageError when a value is given and below 1.
void at_least_one(const char* option, const std::optional<std::int64_t>& value);

}  // namespace volvelle::cli
