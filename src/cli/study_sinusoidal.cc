#include "cli/study_sinusoidal.h"

#include "cli/exit_code.h"
#include "cli/study_run.h"
#include "volvelle/studies/sinusoidal.h"

namespace volvelle::cli {

int run_study_sinusoidal(const Invocation& call) {
  std::optional<std::int64_t> length, width, shift, rows, row_width, seed;
  std::optional<double> base;
  StudyOptions how;
  CommandLine line(call.verb);
  line.group("What");
  line.integer("--length", length, "T", "positions of the table that is looked into (50)");
  line.integer("--width", width, "C", "its columns, an even number (16)");
  line.integer("--shift", shift, "K", "positions from a row to the turned one (5)");
  line.integer("--rows", rows, "N", "positions that are told apart (5000)");
  line.integer("--row-width", row_width, "C", "columns of their table, an even number (64)");
  line.number("--base", base, "X", "wavelengths go towards 2 pi times it (10000)");
  line.integer("--seed", seed, "N", "of the embeddings that the table is added to (0)");
  how.declare(line);
  if (!line.parse(call)) return kDone;
  SinusoidalStudyOptions options;
  if (length) options.length = *length;
  if (width) options.width = *width;
  if (shift) options.shift = *shift;
  if (rows) options.rows = *rows;
  if (row_width) options.row_width = *row_width;
  if (base) options.base = *base;
  options.seed = seed_of(seed);
  return run_study(call, how, [&](const StudyRun& run) { return study_sinusoidal(options, run); });
}

const char* const kStudySinusoidalExamples =
    "volvelle study sinusoidal # the document's table, 50 positions of width 16\n"
    "volvelle study sinusoidal --width 512 --rows 2000 --row-width 512 # your width\n"
    "volvelle study sinusoidal --plot sinusoidal.svg # table, wavelengths, distances, precision";

const char* const kStudySinusoidalNotes = "";

}  // namespace volvelle::cli
