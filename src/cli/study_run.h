#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/command_line.h"
#include "volvelle/report/study_result.h"
#include "volvelle/studies/study.h"

namespace volvelle::cli {

/// The options that every study has: threads, JSON, files of figures and charts.
class StudyOptions {
 public:
  /// Under the title "How". A study that draws random numbers declares its own --seed before.
  void declare(CommandLine& line);
  /// Throws UsageError for values that no study takes, IoError for files that could not be written.
  void check() const;

  int threads() const { return static_cast<int>(threads_.value_or(0)); }
  bool json() const { return json_; }
  /// Writes --csv and --plot; returns the names of the files.
  std::vector<std::string> write_files(const StudyResult& result) const;

 private:
  std::optional<std::int64_t> threads_;
  std::optional<std::string> csv_, plot_;
  bool json_ = false;
  bool force_ = false;
};

/// Runs a study with progress on the side and prints what it found, as text or JSON, then writes
/// the files that were asked for. An interrupt waits until that is done with what was measured by
/// then. Returns 3 when a control did not fail.
///
///     return run_study(call, how, [&](const StudyRun& run) { return study_x(options, run); });
int run_study(const Invocation& call, const StudyOptions& how,
              const std::function<StudyResult(const StudyRun&)>& study);

/// --seed as a number from 0 on; throws UsageError for a negative one.
std::uint64_t seed_of(const std::optional<std::int64_t>& seed, std::uint64_t otherwise = 0);

}  // namespace volvelle::cli
