#include "cli/study_attention_cost.h"

#include "cli/exit_code.h"
#include "cli/study_run.h"
#include "volvelle/studies/attention_cost.h"

namespace volvelle::cli {

int run_study_attention_cost(const Invocation& call) {
  std::optional<std::int64_t> batch, tokens, width, heads, bytes, measured_width, measured_heads;
  std::optional<std::string> ladder, measured_tokens;
  std::optional<double> seconds;
  bool counted_only = false;
  StudyOptions how;
  CommandLine line(call.verb);
  line.group("Counted");
  line.integer("--batch", batch, "B", "sequences (8)");
  line.integer("--tokens", tokens, "T", "of each (4096)");
  line.integer("--width", width, "C", "of the model (4096)");
  line.integer("--heads", heads, "H", "of attention (32)");
  line.integer("--bytes", bytes, "N", "of a number in a matrix of scores (2)");
  line.text("--ladder", ladder, "T,...", "lengths at batch 1 (1024,4096,8192,16384,65536)");
  line.group("Measured");
  line.flag("--no-measure", counted_only, "count only, which is the same on every machine");
  line.integer("--measured-width", measured_width, "C", "of the model that is timed (256)");
  line.integer("--measured-heads", measured_heads, "H", "its heads (4)");
  line.text("--measured-tokens", measured_tokens, "T,...", "its lengths (128,256,...,2048)");
  line.number("--seconds", seconds, "X", "spent on each time, about (0.06)");
  how.declare(line);
  if (!line.parse(call)) return kDone;
  AttentionCostOptions options;
  if (batch) options.batch = *batch;
  if (tokens) options.tokens = *tokens;
  if (width) options.width = *width;
  if (heads) options.heads = *heads;
  if (bytes) options.bytes = *bytes;
  if (ladder) options.ladder = integers_of("--ladder", *ladder);
  options.measure = !counted_only;
  if (counted_only && (measured_width || measured_heads || measured_tokens || seconds)) {
    throw UsageError(
        "--no-measure leaves nothing for --measured-width, --measured-heads, "
        "--measured-tokens and --seconds to do");
  }
  if (measured_width) options.measured_width = *measured_width;
  if (measured_heads) options.measured_heads = *measured_heads;
  if (measured_tokens) options.measured_tokens = integers_of("--measured-tokens", *measured_tokens);
  if (seconds) options.seconds = *seconds;
  return run_study(call, how,
                   [&](const StudyRun& run) { return study_attention_cost(options, run); });
}

const char* const kStudyAttentionCostExamples =
    "volvelle study attention-cost # a layer of width 4096, and what is measured here\n"
    "volvelle study attention-cost --width 768 --heads 12 --ladder 512,1024,1536,4096 # your "
    "model\n"
    "volvelle study attention-cost --measured-width 512 --measured-heads 8 --threads 1 # timed\n"
    "volvelle study attention-cost --no-measure --json # the arithmetic alone";

const char* const kStudyAttentionCostNotes = "";

}  // namespace volvelle::cli
