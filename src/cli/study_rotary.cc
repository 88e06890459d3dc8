#include "cli/study_rotary.h"

#include "cli/exit_code.h"
#include "cli/study_run.h"
#include "volvelle/studies/rotary.h"

namespace volvelle::cli {

int run_study_rotary(const Invocation& call) {
  std::optional<std::int64_t> width, heads, tokens, batch, seed;
  std::optional<double> base;
  StudyOptions how;
  CommandLine line(call.verb);
  line.group("What");
  line.integer("--width", width, "C", "of the layer (32)");
  line.integer("--heads", heads, "H", "each of an even width (4)");
  line.integer("--tokens", tokens, "T", "of a sequence (12)");
  line.integer("--batch", batch, "B", "sequences (2)");
  line.number("--base", base, "X", "a turn of the slowest pair goes towards 2 pi times it (10000)");
  line.integer("--seed", seed, "N", "of weights and tokens (0)");
  how.declare(line);
  if (!line.parse(call)) return kDone;
  RotaryStudyOptions options;
  if (width) options.width = *width;
  if (heads) options.heads = *heads;
  if (tokens) options.tokens = *tokens;
  if (batch) options.batch = *batch;
  if (base) options.base = *base;
  options.seed = seed_of(seed);
  return run_study(call, how, [&](const StudyRun& run) { return study_rotary(options, run); });
}

const char* const kStudyRotaryExamples =
    "volvelle study rotary # the document's layer of width 32\n"
    "volvelle study rotary --width 512 --heads 8 --base 500000 # your layer\n"
    "volvelle study rotary --plot rotary.svg # scores by offset, clock hands";

const char* const kStudyRotaryNotes = "";

}  // namespace volvelle::cli
