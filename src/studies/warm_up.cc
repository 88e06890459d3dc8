#include "volvelle/studies/warm_up.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "studies/placement_formulas.h"
#include "studies/warm_up_findings.h"
#include "studies/warm_up_grid.h"
#include "studies/warm_up_reading.h"
#include "studies/warm_up_tables.h"
#include "volvelle/base/error.h"
#include "volvelle/base/suggestion.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("[warm-up] " + text); }

template <class Value>
void check_list(const char* name, const std::vector<Value>& values) {
  if (values.empty()) refuse(std::string("no ") + name + " given");
  if (std::set<Value>(values.begin(), values.end()).size() != values.size()) {
    refuse(std::string("one of the ") + name + " is given twice; each is a row of its own");
  }
}

void check_range(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  refuse(std::string(name) + " must be " + grouped(least) + " to " + grouped(most) + ", not " +
         std::to_string(value));
}

void check(const WarmUpOptions& options) {
  for (const double rate : options.rates) {
    if (!std::isfinite(rate) || rate <= 0) {
      refuse("a rate must be a number above 0, not " + shortest(rate));
    }
  }
  check_list("placements", options.placements);
  check_list("depths", options.depths);
  check_list("rates", options.rates);
  check_list("warm-ups", options.warm_up);
  check_range("steps", options.steps, VerdictWatch::kWindow, 1'000'000);
  check_range("seeds", options.seeds, 1, 1000);
  check_range("far seeds", options.far_seeds, 1, options.seeds);
  check_range("tokens", options.tokens, 3, 4096);
  check_range("batch", options.batch, 1, 65'536);
  for (const std::int64_t depth : options.depths) check_range("depths", depth, 1, 10'000);
  for (const std::int64_t steps : options.warm_up) {
    if (steps < 0 || steps > options.steps) {
      refuse("a warm-up takes 0 (none) to " + std::to_string(options.steps) +
             " steps, those of a run, not " + std::to_string(steps));
    }
  }
  if (warm_up_task(options).values < 2) {
    refuse(std::to_string(options.tokens) + " tokens are " + std::to_string(options.tokens - 1) +
           " pairs and a query; pairs must be divisible by 2, 3 or 4, so that values can be dealt "
           "evenly");
  }
  const std::int64_t deepest = *std::max_element(options.depths.begin(), options.depths.end());
  for (const std::string& placement : options.placements) {
    check_network(options, placement, deepest);
  }
}

WarmUpOptions completed(WarmUpOptions options) {
  if (options.rates.empty()) options.rates = warm_up_rates(options.optimizer);
  std::sort(options.rates.begin(), options.rates.end());
  warm_up_rates(options.optimizer);  // is it one?
  return options;
}

template <class Value, class Text>
std::string list(const std::vector<Value>& values, Text text) {
  std::string joined;
  for (const Value& value : values) joined += (joined.empty() ? "" : ", ") + text(value);
  return joined;
}

std::vector<std::pair<std::string, std::string>> setup_of(const WarmUpOptions& options,
                                                          const RecallOptions& task,
                                                          const WarmUpGrid& grid) {
  const auto whole = [](std::int64_t value) { return std::to_string(value); };
  std::vector<std::pair<std::string, std::string>> setup{
      {"task",
       "recall without positions: " + std::to_string(task.pairs) +
           " tokens that each carry a key and its value, then a key alone, whose value (one "
           "of " +
           std::to_string(task.values) + ") is asked for; the uniform guess loses " +
           fixed(recall_guess(task), 3)},
      {"networks",
       "width " + std::to_string(options.width) + ", " + std::to_string(options.heads) +
           " heads, feed-forward " +
           std::to_string(options.feed_forward != 0 ? options.feed_forward : 4 * options.width) +
           ", ReLU, " + (options.norm == NormKind::layer ? "LayerNorm" : "RMSNorm") + ", " +
           std::string(name_of(options.initialization)) +
           " initial values; final norm where the placement leaves the stream without"}};
  for (const std::string& placement : options.placements) {
    setup.emplace_back(placement, formulas_of(placement, options.depths.front()));
  }
  setup.emplace_back("depths", list(options.depths, whole));
  setup.emplace_back("training", options.optimizer + ", batches of " +
                                     std::to_string(options.batch) + ", " +
                                     std::to_string(options.steps) + " steps, no clipping");
  setup.emplace_back("rates", list(options.rates, rate_text));
  setup.emplace_back("warm-up", list(warm_up_arms(options.warm_up), [](const WarmUpArm& arm) {
                                  return arm.name();
                                }) + " (mean of N: the constant rate with the mean of warm-up N)");
  setup.emplace_back("seeds", std::to_string(options.far_seeds) +
                                  ", where a neighbouring rate or "
                                  "another seed ended otherwise " +
                                  std::to_string(options.seeds) + ", from " +
                                  std::to_string(options.seed) + "; " + std::to_string(grid.runs) +
                                  " runs, " + std::to_string(grid.bought_runs) +
                                  " of them paid for by broken ones");
  setup.emplace_back(
      "verdict",
      "by the mean of the last 20 losses: learned below 0.7 of the uniform guess, else "
      "stuck; broke where a loss or a gradient is not finite, or where 20 losses in a "
      "row, or that mean, are above 1.05 of the untrained network's loss (where batches are "
      "small, 4 deviations of such a mean above it, if that is more)");
  return setup;
}

StudyControl control_of(const RecallOptions& task, const WarmUpGrid& grid) {
  const WarmUpRun& run = grid.control;
  const WarmUpOutcome& outcome = grid.control_outcome;
  StudyControl control;
  control.what = "The same training (" + run.placement + ", " + std::to_string(run.depth) +
                 " layers, rate " + rate_text(run.rate) + ", warm-up: " + run.arm.name() +
                 ") with labels that have nothing to do with the sequences.";
  control.check = "it has learned.";
  control.failed = outcome.verdict != RunVerdict::learned;
  control.figures = "it is called " + std::string(name_of(outcome.verdict)) +
                    ": its last losses have the mean " + fixed(outcome.last_loss, 3) +
                    ", the uniform guess " + fixed(recall_guess(task), 3) + '.';
  return control;
}

std::vector<std::string> limits_of(const WarmUpOptions& options) {
  std::vector<std::string> limits{
      "One task, one width, " + std::to_string(options.steps) +
          " steps: a run that is stuck here may learn later, and nothing is said of the quality "
          "that either placement reaches in the end.",
      "Rates are a grid: an edge lies between two of them, and a cell counts as learned where most "
      "of its runs did. With so few seeds a cell says whether "
      "most runs learn, not how often; the pairs over all rates are the firmer figures.",
      "The rates at which a stack fails belong to its width, its data and its optimizer: what "
      "carries over is the direction, not the number."};
  if (options.optimizer == "adamw") {
    limits.push_back(
        "AdamW divides each step by the gradient's size, so its first updates are as large "
        "in every layer whatever the gradients are: --optimizer sgd shows what that hides.");
  }
  return limits;
}

}  // namespace

WarmUpOptions quick_warm_up() {
  WarmUpOptions options;
  options.depths = {6, 12};
  options.rates = {3e-4, 1e-3, 3e-3};
  options.seeds = 2;
  return options;
}

std::vector<double> warm_up_rates(const std::string& optimizer) {
  if (optimizer == "adamw") return {1e-4, 3e-4, 1e-3, 3e-3, 1e-2};
  if (optimizer == "sgd") return {0.01, 0.03, 0.1, 0.3, 1};
  const std::vector<std::string> known{"adamw", "sgd"};
  refuse("unknown optimizer '" + optimizer + "': adamw or sgd" + suggestion(optimizer, known));
}

StudyResult study_warm_up(const WarmUpOptions& given, const StudyRun& run) {
  const WarmUpOptions options = completed(given);
  check(options);
  const RecallOptions task = warm_up_task(options);
  const WarmUpGrid grid = train_grid(options, run);

  StudyResult result;
  result.name = "warm-up";
  result.question =
      "At which learning rate does a stack stop learning, and does a warm-up, or only a smaller "
      "rate, let it learn after all?";
  result.setup = setup_of(options, task, grid);
  result.facts = {{"uniform_guess", recall_guess(task)},
                  {"runs", grid.runs},
                  {"bought_runs", grid.bought_runs}};
  result.tables = warm_up_tables(options, grid);
  result.charts = warm_up_charts(options, grid);
  result.complete = grid.complete;
  if (grid.control_outcome.finished) result.controls.push_back(control_of(task, grid));
  result.reading = warm_up_reading(options, grid);
  result.limits = limits_of(options);
  return result;
}

}  // namespace volvelle
