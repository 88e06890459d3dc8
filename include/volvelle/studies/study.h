#pragma once

#include <functional>
#include <span>
#include <string>

#include "volvelle/base/export.h"
#include "volvelle/report/study_result.h"

namespace volvelle {

/// What every study is told besides its own options.
struct StudyRun {
  int threads = 0;                     ///< 0: the process's setting
  std::function<bool()> stopped = {};  ///< true: end early with what there is
  /// Told how much is done (0 to 1) and what is going on, often.
  std::function<void(double done, const std::string& what)> progress = {};
};

/// A line of the table of studies.
struct StudyEntry {
  const char* name;
  const char* sentence;
};
VOLVELLE_API std::span<const StudyEntry> studies();

}  // namespace volvelle
