#include "cli/study_run.h"

#include <algorithm>

#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/progress_line.h"
#include "volvelle/io/text_file.h"
#include "volvelle/report/study_report.h"

namespace volvelle::cli {

void StudyOptions::declare(CommandLine& line) {
  line.group("How");
  line.integer("--threads", threads_, "N", "at most N threads (all CPUs)");
  line.flag("--json", json_, "one JSON document on stdout");
  line.text("--csv", csv_, "FILE", "the main table as CSV; further tables as FILE's name.KEY.csv");
  line.text("--plot", plot_, "FILE", "the charts as one SVG picture");
  line.flag("--force", force_, "replace files that exist");
}

void StudyOptions::check() const {
  if (threads_ && (*threads_ < 1 || *threads_ > 1024)) {
    throw UsageError("--threads takes 1 to 1024");
  }
  if (force_ && !csv_ && !plot_) throw UsageError("--force is for --csv and --plot");
  if (csv_ && plot_ && *csv_ == *plot_) {
    throw UsageError("--csv and --plot name the same file, " + *csv_);
  }
  for (const auto& path : {csv_, plot_}) {
    if (path) check_text_path(*path, {.force = force_});
  }
}

std::vector<std::string> StudyOptions::write_files(const StudyResult& result) const {
  std::vector<std::string> written;
  const auto write = [&](const std::string& path, const std::string& text) {
    write_text_file(path, text, {.force = force_});
    written.push_back(path);
  };
  if (csv_) {
    for (const auto& [path, text] : study_csv_files(result, *csv_)) write(path, text);
  }
  if (plot_) write(*plot_, study_svg(result));
  return written;
}

int run_study(const Invocation& call, const StudyOptions& how,
              const std::function<StudyResult(const StudyRun&)>& study) {
  how.check();
  const InterruptsHeld held;
  ProgressLine progress(call.remarks);
  const StudyResult result =
      study({.threads = how.threads(),
             .stopped = [] { return InterruptsHeld::pending(); },
             .progress = [&](double done, const std::string& what) { progress.show(done, what); }});
  progress.clear();
  if (how.json()) {
    write_study_json(call.out, result);
  } else {
    call.out << study_text(result);
  }
  call.out.flush();
  for (const std::string& path : how.write_files(result)) call.remarks << "wrote " << path << '\n';
  call.remarks.flush();
  const bool failed = std::all_of(result.controls.begin(), result.controls.end(),
                                  [](const StudyControl& control) { return control.failed; });
  return failed ? kDone : kCheckFailed;
}

std::uint64_t seed_of(const std::optional<std::int64_t>& seed, std::uint64_t otherwise) {
  if (seed && *seed < 0) throw UsageError("--seed must not be negative");
  return seed ? static_cast<std::uint64_t>(*seed) : otherwise;
}

}  // namespace volvelle::cli
