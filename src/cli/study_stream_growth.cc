#include "cli/study_stream_growth.h"

#include "cli/exit_code.h"
#include "cli/study_run.h"
#include "volvelle/studies/stream_growth.h"

namespace volvelle::cli {

int run_study_stream_growth(const Invocation& call) {
  std::optional<std::int64_t> layers, width, seed;
  std::optional<std::string> stream;
  StudyOptions how;
  CommandLine line(call.verb);
  line.group("What");
  line.integer("--layers", layers, "L", "layers, one branch each of unit length (24)");
  line.integer("--width", width, "C", "of the stream (64)");
  line.integer("--seed", seed, "N", "of the random numbers (0)");
  line.choice("--stream", stream, {"torch", "numpy", "philox"},
              "whose random numbers (numpy: the document's)");
  how.declare(line);
  if (!line.parse(call)) return kDone;
  StreamGrowthOptions options;
  if (layers) options.layers = *layers;
  if (width) options.width = *width;
  options.seed = seed_of(seed);
  if (stream) options.stream = random_stream_named(*stream);
  return run_study(call, how,
                   [&](const StudyRun& run) { return study_stream_growth(options, run); });
}

const char* const kStudyStreamGrowthExamples =
    "volvelle study stream-growth # 24 layers of width 64\n"
    "volvelle study stream-growth --layers 96 --seed 3 # deeper, other directions\n"
    "volvelle study stream-growth --csv growth.csv # every layer; the stacks in growth.stacks.csv";

const char* const kStudyStreamGrowthNotes =
    "\nText shows the first layer, a quarter, a half and all of them; --json and --csv have every "
    "layer.";

}  // namespace volvelle::cli
