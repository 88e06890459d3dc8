#include "cli/study_position_faults.h"

#include <optional>
#include <string>

#include "cli/exit_code.h"
#include "cli/study_run.h"
#include "volvelle/studies/position_faults.h"

namespace volvelle::cli {
namespace {

/// The options of this study, as they were given.
class PositionFaultsArguments {
 public:
  void declare(CommandLine& line) {
    line.group("Networks");
    line.text("--scheme", scheme_, "S", "by name, or with settings in brackets (rotary)");
    line.integer("--tokens", tokens_, "T", "tokens of a sequence (64)");
    line.integer("--steps", steps_, "N", "steps of training (1000)");
    line.number("--rate", rate_, "R", "learning rate (0.003)");
    line.integer("--seeds", seeds_, "N", "networks (3)");
    line.integer("--seed", seed_, "S", "the first seed (0)");
    line.integer("--width", width_, "C", "model width (64)");
    line.integer("--heads", heads_, "H", "heads (4)");
    line.integer("--layers", layers_, "L", "layers (2)");
    line.integer("--batch", batch_, "B", "sequences a step (16)");
    line.integer("--test-rows", test_rows_, "N", "sequences of the test (48)");
  }

  PositionFaultsOptions options() const {
    PositionFaultsOptions options;
    if (scheme_) options.scheme = *scheme_;
    if (tokens_) options.tokens = *tokens_;
    if (steps_) options.steps = *steps_;
    if (rate_) options.rate = *rate_;
    if (seeds_) options.seeds = *seeds_;
    options.seed = seed_of(seed_);
    if (width_) options.width = *width_;
    if (heads_) options.heads = *heads_;
    if (layers_) options.layers = *layers_;
    if (batch_) options.batch = *batch_;
    if (test_rows_) options.test_rows = *test_rows_;
    return options;
  }

 private:
  std::optional<std::string> scheme_;
  std::optional<double> rate_;
  std::optional<std::int64_t> tokens_, steps_, seeds_, seed_, width_, heads_, layers_, batch_,
      test_rows_;
};

}  // namespace

int run_study_position_faults(const Invocation& call) {
  PositionFaultsArguments given;
  StudyOptions how;
  CommandLine line(call.verb);
  given.declare(line);
  how.declare(line);
  if (!line.parse(call)) return kDone;
  const PositionFaultsOptions options = given.options();
  return run_study(call, how,
                   [&](const StudyRun& run) { return study_position_faults(options, run); });
}

const char* const kStudyPositionFaultsExamples =
    "volvelle study position-faults # rotary, three networks, in less than a minute\n"
    "volvelle study position-faults --scheme sinusoidal # padding that is counted shows here\n"
    "volvelle study position-faults --scheme alibi --plot faults.svg # the chart as a picture";

const char* const kStudyPositionFaultsNotes =
    "\nThe same mistakes are the controls of check attention and check positions. A model's own "
    "cache refuses positions that do not go on behind what it holds, so the first two are made in "
    "a "
    "pass written by hand.";

}  // namespace volvelle::cli
