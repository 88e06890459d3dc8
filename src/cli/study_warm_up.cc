#include "cli/study_warm_up.h"

#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/study_run.h"
#include "volvelle/studies/warm_up.h"

namespace volvelle::cli {
namespace {

constexpr Initialization kInitializations[] = {Initialization::torch, Initialization::xavier,
                                               Initialization::depth_scaled,
                                               Initialization::normal};

/// The options of this study, as they were given.
class WarmUpArguments {
 public:
  void declare(CommandLine& line) {
    line.group("Runs");
    line.text("--placements", placements_, "P,...",
              "names or formulas of norm placements (pre,post)");
    line.text("--depths", depths_, "L,...", "layers of the stacks (6,12,24)");
    line.text("--rates", rates_, "R,...", "full learning rates (a grid for the optimizer)");
    line.text("--warm-up", warm_up_, "N,...",
              "steps of the climb to the full rate, 0 for none; each above 0 comes with the "
              "constant rate of its mean (0,100)");
    line.choice("--optimizer", optimizer_, {"adamw", "sgd"}, "adamw unless said");
    line.integer("--steps", steps_, "N", "steps of a run (300)");
    line.integer("--seeds", seeds_, "N", "runs where a neighbouring rate ended otherwise (3)");
    line.integer("--far-seeds", far_seeds_, "N", "runs everywhere else (1)");
    line.integer("--seed", seed_, "S", "the first seed (0)");
    line.flag("--quick", quick_,
              "6 and 12 layers, three rates, two seeds: under a minute instead of under four");
    line.group("Networks and task");
    line.integer("--width", width_, "C", "model width (64)");
    line.integer("--heads", heads_, "H", "heads (4)");
    line.integer("--feed-forward", feed_forward_, "F", "feed-forward width (4 C)");
    line.choice("--norm", norm_, {"layer", "rms"}, "the kind of norm (layer)");
    std::vector<std::string> names;
    for (const Initialization scheme : kInitializations) names.emplace_back(name_of(scheme));
    line.choice("--init", initialization_, names, "first values (torch)");
    line.integer("--batch", batch_, "B", "sequences a step (8)");
    line.integer("--tokens", tokens_, "T", "tokens of a sequence: pairs, and the query (5)");
  }

  WarmUpOptions options() const {
    WarmUpOptions options = quick_ ? quick_warm_up() : WarmUpOptions();
    // The quick rates are AdamW's.
    if (optimizer_ && *optimizer_ != options.optimizer) options.rates.clear();
    if (optimizer_) options.optimizer = *optimizer_;
    if (placements_) options.placements = words_of("--placements", *placements_);
    if (depths_) options.depths = integers_of("--depths", *depths_);
    if (rates_) options.rates = numbers_of("--rates", *rates_);
    if (warm_up_) options.warm_up = integers_of("--warm-up", *warm_up_);
    if (steps_) options.steps = *steps_;
    if (seeds_) options.seeds = *seeds_;
    if (far_seeds_) options.far_seeds = *far_seeds_;
    options.seed = seed_of(seed_);
    if (width_) options.width = *width_;
    if (heads_) options.heads = *heads_;
    if (feed_forward_ && *feed_forward_ < 1) throw UsageError("--feed-forward must be positive");
    if (feed_forward_) options.feed_forward = *feed_forward_;
    if (norm_) options.norm = *norm_ == "rms" ? NormKind::rms : NormKind::layer;
    for (const Initialization scheme : kInitializations) {
      if (initialization_ && *initialization_ == name_of(scheme)) options.initialization = scheme;
    }
    if (batch_) options.batch = *batch_;
    if (tokens_) options.tokens = *tokens_;
    return options;
  }

 private:
  std::optional<std::string> placements_, depths_, rates_, warm_up_, optimizer_, norm_,
      initialization_;
  std::optional<std::int64_t> steps_, seeds_, far_seeds_, seed_, width_, heads_, feed_forward_,
      batch_, tokens_;
  bool quick_ = false;
};

}  // namespace

int run_study_warm_up(const Invocation& call) {
  WarmUpArguments given;
  StudyOptions how;
  CommandLine line(call.verb);
  given.declare(line);
  how.declare(line);
  if (!line.parse(call)) return kDone;
  const WarmUpOptions options = given.options();
  return run_study(call, how, [&](const StudyRun& run) { return study_warm_up(options, run); });
}

const char* const kStudyWarmUpExamples =
    "volvelle study warm-up --quick # 6 and 12 layers, in less than a minute\n"
    "volvelle study warm-up --plot warm_up.svg # 24 layers too, and the charts as a picture\n"
    "volvelle study warm-up --optimizer sgd --depths 6 # steps as large as the gradients\n"
    "volvelle study warm-up --placements pre,sandwich --depths 12 --seeds 5 # others, more firmly";

const char* const kStudyWarmUpNotes =
    "\nA run has learned, is stuck or broke; the table counts them. Where a row changes from one "
    "to "
    "the other, cells get more seeds. Every run is one network on one thread: --threads says how "
    "many are trained at once, and changes no figure.";

}  // namespace volvelle::cli
