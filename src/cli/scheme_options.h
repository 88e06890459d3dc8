#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "cli/command_line.h"
#include "volvelle/nn/positions/catalog.h"
#include "volvelle/report/study_result.h"

namespace volvelle::cli {

/// The model that a scheme is shown for: --width, --heads and so on.
class ModelOptions {
 public:
  void declare(CommandLine& line);
  /// Throws UsageError for sizes below 1.
  PositionContext context() const;

 private:
  std::optional<std::int64_t> width_, heads_, head_width_;
  bool two_way_ = false;
};

/// The settings of a scheme as options of their names: `--base 500000`.
class SettingOptions {
 public:
  void declare(CommandLine& line, const PositionEntry& entry);
  PositionText text(const PositionEntry& entry) const;

 private:
  std::deque<std::pair<const char*, std::optional<std::string>>> values_;
};

/// Where what was found goes.
class SheetOptions {
 public:
  void declare(CommandLine& line, bool with_plot);
  bool json() const { return json_; }
  /// Throws UsageError where there is nothing to write, IoError for files that cannot be written:
  /// before anything was printed.
  void check(const StudyResult& sheet) const;
  /// Writes --csv and --plot; returns the names of the files.
  std::vector<std::string> write_files(const StudyResult& sheet) const;

 private:
  std::optional<std::string> csv_, plot_;
  bool json_ = false, force_ = false;
};

}  // namespace volvelle::cli
