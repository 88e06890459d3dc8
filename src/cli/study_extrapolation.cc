#include "cli/study_extrapolation.h"

#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/study_run.h"
#include "io/mapped_file.h"
#include "volvelle/studies/extrapolation.h"

namespace volvelle::cli {
namespace {

/// Names with commas between, which may have settings with commas in brackets behind them.
std::vector<std::string> schemes_of(const std::string& text) {
  std::vector<std::string> schemes(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ',' && depth == 0) {
      schemes.emplace_back();
    } else if (c != ' ' || !schemes.back().empty()) {
      schemes.back() += c;
    }
  }
  for (const std::string& scheme : schemes) {
    if (scheme.empty()) {
      throw UsageError("--schemes takes schemes with a comma between, not '" + text + "'");
    }
  }
  return schemes;
}

std::string bytes_of(const std::string& path) {
  const Source file = map_file(path);
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

/// The options of this study, as they were given.
class ExtrapolationArguments {
 public:
  void declare(CommandLine& line) {
    line.group("Contest");
    line.text("--schemes", schemes_, "S,...",
              "schemes by name, or with settings in brackets; rotary-yarn is rotary with angles "
              "rescaled in tests (none,sinusoidal,learned,rotary,rotary-yarn,alibi,t5,clamped)");
    line.integer("--train", train_, "T", "tokens of a sequence in training (64)");
    line.text("--test", test_, "T,...", "tokens of the tests (1, 2, 4 and 8 times --train)");
    line.choice("--task", task_, {"language", "recall", "text", "all"},
                "language unless a text is given");
    line.text("--text", text_, "FILE", "bytes to learn: the first nine tenths; the last is tested");
    line.text("--rates", rates_, "R,...",
              "learning rates, tried with the first seed (0.001,0.003,0.01)");
    line.integer("--steps", steps_, "N", "steps of a run (1500)");
    line.integer("--seeds", seeds_, "N", "runs of each scheme (5)");
    line.integer("--seed", seed_, "S", "the first seed (0)");
    line.flag(
        "--quick", quick_,
        "one seed, one rate, 1000 steps, three lengths: under a minute instead of under eight");
    line.group("Networks");
    line.integer("--width", width_, "C", "model width (64)");
    line.integer("--heads", heads_, "H", "heads (4)");
    line.integer("--layers", layers_, "L", "layers (2)");
    line.integer("--feed-forward", feed_forward_, "F", "feed-forward width (2 C)");
    line.integer("--batch", batch_, "B", "sequences a step (16)");
    line.integer("--test-rows", test_rows_, "N", "sequences of a test (48)");
  }

  ExtrapolationOptions options() const {
    ExtrapolationOptions options = quick_ ? quick_extrapolation() : ExtrapolationOptions();
    if (schemes_) options.schemes = schemes_of(*schemes_);
    if (train_) {
      // The same multiples of it.
      for (std::int64_t& length : options.test) length = length / options.train * *train_;
      options.train = *train_;
    }
    if (test_) options.test = integers_of("--test", *test_);
    if (task_) options.task = *task_;
    if (rates_) options.rates = numbers_of("--rates", *rates_);
    if (steps_) options.steps = *steps_;
    if (seeds_) options.seeds = *seeds_;
    options.seed = seed_of(seed_);
    if (width_) options.width = *width_;
    if (heads_) options.heads = *heads_;
    if (layers_) options.layers = *layers_;
    if (feed_forward_ && *feed_forward_ < 1) throw UsageError("--feed-forward must be positive");
    if (feed_forward_) options.feed_forward = *feed_forward_;
    if (batch_) options.batch = *batch_;
    if (test_rows_) options.test_rows = *test_rows_;
    if (text_) options.text = bytes_of(*text_);
    return options;
  }

 private:
  std::optional<std::string> schemes_, test_, task_, text_, rates_;
  std::optional<std::int64_t> train_, steps_, seeds_, seed_, width_, heads_, layers_, feed_forward_,
      batch_, test_rows_;
  bool quick_ = false;
};

}  // namespace

int run_study_extrapolation(const Invocation& call) {
  ExtrapolationArguments given;
  StudyOptions how;
  CommandLine line(call.verb);
  given.declare(line);
  how.declare(line);
  if (!line.parse(call)) return kDone;
  const ExtrapolationOptions options = given.options();
  return run_study(call, how,
                   [&](const StudyRun& run) { return study_extrapolation(options, run); });
}

const char* const kStudyExtrapolationExamples =
    "volvelle study extrapolation --quick # one seed, in less than a minute\n"
    "volvelle study extrapolation --plot extrapolation.svg # five seeds, and the charts\n"
    "volvelle study extrapolation --task recall --schemes none,rotary,alibi # what is far away\n"
    "volvelle study extrapolation --text book.txt --steps 5000 --seeds 2 # bytes of a text\n"
    "volvelle study extrapolation --schemes 'rotary,rotary(base=500),t5(max=16)' # other numbers";

const char* const kStudyExtrapolationNotes =
    "\nA run counts that reached the stated accuracy at the training length; all are shown. Beside "
    "every scheme stands the same network in a window of the training length: who gains nothing "
    "over it has ignored what is further away. Every run is one network on one thread: --threads "
    "says how many are trained at once, and changes no figure.";

}  // namespace volvelle::cli
