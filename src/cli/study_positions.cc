#include "cli/study_positions.h"

#include "cli/exit_code.h"
#include "cli/study_run.h"
#include "volvelle/studies/positions.h"

namespace volvelle::cli {

int run_study_positions(const Invocation& call) {
  std::optional<std::int64_t> tokens, width, seed, draws, shift, learned_rows;
  StudyOptions how;
  CommandLine line(call.verb);
  line.group("What");
  line.integer("--tokens", tokens, "T", "tokens that are shuffled (6)");
  line.integer("--width", width, "C", "of tokens and of the one head, an even number (8)");
  line.integer("--seed", seed, "N", "of projections and tokens (0)");
  line.integer("--draws", draws, "N", "further seeds of the projections, from 1 on (30)");
  line.integer("--shift", shift, "K", "positions from a row to the turned one (3)");
  line.integer("--learned-rows", learned_rows, "N", "positions of the learned table (16)");
  how.declare(line);
  if (!line.parse(call)) return kDone;
  PositionsStudyOptions options;
  if (tokens) options.tokens = *tokens;
  if (width) options.width = *width;
  options.seed = seed_of(seed);
  if (draws) options.draws = *draws;
  if (shift) options.shift = *shift;
  if (learned_rows) options.learned_rows = *learned_rows;
  return run_study(call, how, [&](const StudyRun& run) { return study_positions(options, run); });
}

const char* const kStudyPositionsExamples =
    "volvelle study positions # the document's six tokens of width 8\n"
    "volvelle study positions --tokens 32 --width 64 --draws 100 # your sizes\n"
    "volvelle study positions --json # every figure, and every draw";

const char* const kStudyPositionsNotes = "";

}  // namespace volvelle::cli
