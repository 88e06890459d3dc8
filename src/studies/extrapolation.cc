#include "volvelle/studies/extrapolation.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "studies/extrapolation_contest.h"
#include "studies/extrapolation_findings.h"
#include "studies/extrapolation_reading.h"
#include "studies/extrapolation_tables.h"
#include "volvelle/base/error.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw InvalidArgument("[extrapolation] " + text);
}

void check_range(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  refuse(std::string(name) + " must be " + grouped(least) + " to " + grouped(most) + ", not " +
         std::to_string(value));
}

void check(const ExtrapolationOptions& options) {
  check_range("the training length", options.train, 8, 4096);
  for (const std::int64_t length : options.test) {
    check_range("a test length", length, options.train, 65'536);
  }
  if (options.rates.empty()) refuse("no rates given");
  for (const double rate : options.rates) {
    if (!std::isfinite(rate) || rate <= 0) {
      refuse("a rate must be a number above 0, not " + shortest(rate));
    }
  }
  if (std::set<double>(options.rates.begin(), options.rates.end()).size() != options.rates.size()) {
    refuse("one of the rates is given twice");
  }
  check_range("steps", options.steps, 1, 1'000'000);
  check_range("seeds", options.seeds, 1, 1000);
  check_range("layers", options.layers, 1, 1000);
  check_range("batch", options.batch, 1, 65'536);
  check_range("test rows", options.test_rows, 1, 1 << 20);
  check_range("the feed-forward width", options.feed_forward, 0, 1 << 20);
}

/// Test lengths in order, with the training length among them.
ExtrapolationOptions completed(ExtrapolationOptions options) {
  options.test.push_back(options.train);
  std::sort(options.test.begin(), options.test.end());
  options.test.erase(std::unique(options.test.begin(), options.test.end()), options.test.end());
  return options;
}

std::string lengths_text(const ExtrapolationOptions& options) {
  std::string text;
  for (const std::int64_t length : options.test) {
    text += (text.empty() ? "" : ", ") + grouped(length);
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> setup_of(const ExtrapolationOptions& options,
                                                          const Contest& contest) {
  std::vector<std::pair<std::string, std::string>> setup;
  for (const auto& task : contest.tasks) {
    std::string passes;
    for (const ContestPart& part : task->parts()) {
      passes += (passes.empty() ? "" : ", ") + part.title + " " + fixed(100 * part.pass, 1) +
                "% (a guess " + fixed(100 * part.guess, 1) + "%)";
    }
    setup.emplace_back(
        contest.tasks.size() > 1 ? "task " + task->name() : "task",
        task->sentence() + ". A run counts that has right at the training length: " + passes);
  }
  setup.emplace_back(
      "networks",
      std::to_string(options.layers) + " causal layers, width " + std::to_string(options.width) +
          ", " + std::to_string(options.heads) + " heads, feed-forward " +
          std::to_string(options.feed_forward != 0 ? options.feed_forward : 2 * options.width) +
          ", pre-LN, ReLU, float32, PyTorch's initial values (token vectors from the normal "
          "distribution, "
          "as large as sinusoids); parameters stand in the table of schemes");
  std::string rates;
  for (const double rate : options.rates) rates += (rates.empty() ? "" : ", ") + rounded(rate, 6);
  setup.emplace_back("training",
                     "AdamW, " + grouped(options.steps) + " steps of " +
                         std::to_string(options.batch) + " sequences of " + grouped(options.train) +
                         " tokens, the same for all schemes; clipped to 1, warm-up, then a cosine "
                         "down to a tenth; rates " +
                         rates + ", the one that loses least with the first seed");
  setup.emplace_back("tests", grouped(options.test_rows) + " sequences of " +
                                  lengths_text(options) +
                                  " tokens; a longer one begins as the shorter one does");
  setup.emplace_back("window", "the same weights, shown the last " + grouped(options.train) +
                                   " tokens at most (three quarters of them at least)");
  setup.emplace_back("seeds", std::to_string(options.seeds) + ", from " +
                                  std::to_string(options.seed) + "; " +
                                  std::to_string(contest.runs) + " networks trained");
  return setup;
}

StudyControl control_of(const OrderEntry& entry) {
  StudyControl control;
  control.what =
      "A network without positions and without causal mask on the order task: two marks among "
      "fillers, which came first? Test sequences come in twins with the marks exchanged.";
  control.check = "it has learned the order task (" + fixed(100 * kOrderLearned, 0) + "% right).";
  std::vector<double> values;
  for (const OrderOutcome& outcome : entry.outcomes) values.push_back(outcome.accuracy);
  const SeedSpread spread = spread_of(values);
  control.failed = spread.maximum < kOrderLearned;
  control.figures = "over " + std::to_string(values.size()) +
                    (values.size() == 1 ? " seed" : " seeds") + " it is right " +
                    fixed(100 * spread.minimum, 1) + "% to " + fixed(100 * spread.maximum, 1) +
                    "% of the time; half is chance.";
  return control;
}

std::vector<std::string> limits_of(const ExtrapolationOptions& options, const Contest& contest) {
  std::vector<std::string> limits{
      "Small networks, " + grouped(options.steps) +
          " steps and one training length: what carries over is who holds and who falls apart, "
          "not the figures.",
      "Each scheme has one set of numbers here (base, slopes, largest distance); another may do "
      "better, and YaRN is usually followed by some training at the longer length."};
  if (std::any_of(contest.tasks.begin(), contest.tasks.end(),
                  [](const auto& task) { return task->name() == "language"; })) {
    limits.push_back(
        "The generated language is regular: names are told apart by content, and only the order of "
        "statements and the last two words ask for position. Natural text asks for more, and less "
        "sharply.");
  }
  limits.push_back("With " + std::to_string(options.seeds) +
                   (options.seeds == 1 ? " seed" : " seeds") +
                   " a median says which scheme is ahead, not by how much; every run stands in the "
                   "table.");
  return limits;
}

bool all_finished(const OrderEntry& entry) {
  return std::all_of(entry.outcomes.begin(), entry.outcomes.end(),
                     [](const OrderOutcome& outcome) { return outcome.finished; });
}

}  // namespace

ExtrapolationOptions quick_extrapolation() {
  ExtrapolationOptions options;
  options.test = {64, 128, 256};
  options.rates = {3e-3};
  options.steps = 1000;
  options.seeds = 1;
  options.test_rows = 24;
  return options;
}

StudyResult study_extrapolation(const ExtrapolationOptions& given, const StudyRun& run) {
  check(given);
  const ExtrapolationOptions options = completed(given);
  const Contest contest = hold_contest(options, run);

  StudyResult result;
  result.name = "extrapolation";
  result.question =
      "Trained at one length, tested at longer ones: which way of giving position still works, and "
      "who merely ignores what is far away?";
  result.setup = setup_of(options, contest);
  result.facts = {{"train", options.train}, {"networks", contest.runs}};
  for (std::size_t task = 0; task < contest.tasks.size(); ++task) {
    const std::string prefix = contest.tasks.size() > 1 ? contest.tasks[task]->name() + "_" : "";
    for (const ContestPart& part : contest.tasks[task]->parts()) {
      result.facts.emplace_back(prefix + part.key + "_guess", part.guess);
      result.facts.emplace_back(prefix + part.key + "_pass", part.pass);
    }
  }
  result.tables = extrapolation_tables(options, contest);
  result.charts = extrapolation_charts(options, contest);
  result.complete = contest.complete;
  if (all_finished(contest.order.front())) {
    result.controls.push_back(control_of(contest.order.front()));
  }
  result.reading = extrapolation_reading(options, contest);
  result.limits = limits_of(options, contest);
  return result;
}

}  // namespace volvelle
