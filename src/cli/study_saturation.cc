#include "cli/study_saturation.h"

#include "cli/exit_code.h"
#include "cli/study_run.h"
#include "volvelle/studies/saturation.h"

namespace volvelle::cli {

int run_study_saturation(const Invocation& call) {
  std::optional<std::string> widths;
  std::optional<std::int64_t> tokens, draws, seed;
  StudyOptions how;
  CommandLine line(call.verb);
  line.group("What");
  line.text("--head-widths", widths, "D,...", "widths of queries and keys (2,8,64,512)");
  line.integer("--tokens", tokens, "T", "queries, and keys (32)");
  line.integer("--draws", draws, "N", "of queries and keys, for each width (20)");
  line.integer("--seed", seed, "N", "of the random numbers (0)");
  how.declare(line);
  if (!line.parse(call)) return kDone;
  SaturationOptions options;
  if (widths) options.head_widths = integers_of("--head-widths", *widths);
  if (tokens) options.tokens = *tokens;
  if (draws) options.draws = *draws;
  options.seed = seed_of(seed);
  return run_study(call, how, [&](const StudyRun& run) { return study_saturation(options, run); });
}

const char* const kStudySaturationExamples =
    "volvelle study saturation # widths 2, 8, 64 and 512\n"
    "volvelle study saturation --head-widths 64,80,96,128,256 --tokens 256 # your sizes\n"
    "volvelle study saturation --plot saturation.svg # three charts in one picture";

const char* const kStudySaturationNotes = "";

}  // namespace volvelle::cli
