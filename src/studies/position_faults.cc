#include "volvelle/studies/position_faults.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "studies/position_fault_list.h"
#include "studies/position_fault_runs.h"
#include "studies/seed_statistics.h"
#include "volvelle/base/error.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

// Logits that moved by no more than rounding does.
constexpr double kRounding = 1e-3;
// A loss that grew by no more costs nothing that one would notice.
constexpr double kHarmless = 0.01;
// What the control must not reach.
constexpr double kCosts = 0.05;

[[noreturn]] void refuse(const std::string& text) {
  throw InvalidArgument("[position-faults] " + text);
}

void check_range(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  refuse(std::string(name) + " must be " + grouped(least) + " to " + grouped(most) + ", not " +
         std::to_string(value));
}

void check(const PositionFaultsOptions& options) {
  check_range("tokens", options.tokens, 8, 4096);
  check_range("steps", options.steps, 1, 1'000'000);
  check_range("seeds", options.seeds, 1, 1000);
  check_range("layers", options.layers, 1, 1000);
  check_range("batch", options.batch, 1, 65'536);
  check_range("test rows", options.test_rows, 1, 4096);
  if (!std::isfinite(options.rate) || options.rate <= 0) {
    refuse("the rate must be a number above 0, not " + shortest(options.rate));
  }
  if (options.scheme == "rotary-yarn") {
    refuse(
        "rotary-yarn is rotary with angles that are rescaled for longer tests, of which there "
        "are none here: take rotary");
  }
}

/// One figure of a fault in every network that has it.
std::vector<double> figures_of(const std::vector<FaultNetwork>& networks, std::size_t fault,
                               const std::function<double(const FaultOutcome&)>& figure) {
  std::vector<double> values;
  for (const FaultNetwork& network : networks) {
    if (network.finished) values.push_back(figure(network.outcomes[fault]));
  }
  return values;
}

double cost_of(const FaultOutcome& outcome) { return outcome.cost(); }
double moved_by(const FaultOutcome& outcome) { return outcome.moved; }

std::string verdict_of(const FaultRuns& runs, std::size_t fault) {
  if (!runs.absent[fault].empty()) return runs.absent[fault];
  const SeedSpread moved = spread_of(figures_of(runs.trained, fault, moved_by));
  if (moved.maximum <= kRounding) return "changes nothing";
  const SeedSpread cost = spread_of(figures_of(runs.trained, fault, cost_of));
  return cost.maximum <= kHarmless ? "harmless" : "costs";
}

bool measured(const FaultRuns& runs) {
  return std::any_of(runs.trained.begin(), runs.trained.end(),
                     [](const FaultNetwork& network) { return network.finished; });
}

StudyTable fault_table(const FaultRuns& runs, const std::vector<ContestPart>& parts) {
  StudyTable table{.key = "rows",
                   .title =
                       "Loss above the best possible, medians of the networks; what a mistake "
                       "costs with its range; shares right with the mistake; the largest "
                       "change of a logit",
                   .columns = {{"fault", "mistake", 0},
                               {"before", "before", 3},
                               {"after", "after", 3},
                               {"cost", "cost", 3},
                               {"cost_low", "least", 3},
                               {"cost_high", "most", 3}},
                   .rows = {}};
  for (const ContestPart& part : parts) {
    table.columns.push_back({part.key + "_right", part.title, 0, StudyForm::percent});
  }
  table.columns.push_back({"logits_moved", "logits", 6, StudyForm::rounded});
  table.columns.push_back({"verdict", "verdict", 0});
  const auto faults = position_faults();
  for (std::size_t fault = 0; fault < faults.size(); ++fault) {
    std::vector<StudyCell> cells{std::string(faults[fault].name)};
    if (runs.absent[fault].empty() && measured(runs)) {
      const auto median = [&](const std::function<double(const FaultOutcome&)>& figure) {
        return lower_median(figures_of(runs.trained, fault, figure));
      };
      const SeedSpread cost = spread_of(figures_of(runs.trained, fault, cost_of));
      cells.insert(cells.end(),
                   {median([](const FaultOutcome& one) { return one.before.above_best(); }),
                    median([](const FaultOutcome& one) { return one.after.above_best(); }),
                    cost.median, cost.minimum, cost.maximum});
      for (std::size_t part = 0; part < parts.size(); ++part) {
        cells.emplace_back(
            median([&](const FaultOutcome& one) { return one.after.parts[part].accuracy(); }));
      }
      cells.emplace_back(spread_of(figures_of(runs.trained, fault, moved_by)).maximum);
    }
    cells.resize(table.columns.size() - 1);
    cells.emplace_back(measured(runs) || !runs.absent[fault].empty() ? verdict_of(runs, fault)
                                                                     : std::string());
    table.rows.push_back(std::move(cells));
  }
  return table;
}

StudyTable network_table(const PositionFaultsOptions& options, const FaultRuns& runs) {
  StudyTable table{.key = "networks",
                   .title = "Every network",
                   .columns = {{"fault", "mistake", 0},
                               {"seed", "seed", 0},
                               {"before", "before", 3},
                               {"after", "after", 3},
                               {"cost", "cost", 3},
                               {"untrained_cost", "untrained", 3}},
                   .rows = {},
                   .identifying = 2,
                   .text_rows = 0};
  const auto faults = position_faults();
  for (std::size_t fault = 0; fault < faults.size(); ++fault) {
    if (!runs.absent[fault].empty()) continue;
    for (std::size_t seed = 0; seed < runs.trained.size(); ++seed) {
      if (!runs.trained[seed].finished) continue;
      const FaultOutcome& outcome = runs.trained[seed].outcomes[fault];
      table.rows.push_back({std::string(faults[fault].name),
                            static_cast<std::int64_t>(options.seed + seed),
                            outcome.before.above_best(), outcome.after.above_best(), outcome.cost(),
                            runs.untrained[seed].outcomes[fault].cost()});
    }
  }
  return table;
}

StudyTable sentence_table(const FaultRuns& runs) {
  StudyTable table{.key = "mistakes",
                   .title = "What was done",
                   .columns = {{"fault", "mistake", 0}, {"sentence", "what was done", 0}},
                   .rows = {}};
  const auto faults = position_faults();
  for (std::size_t fault = 0; fault < faults.size(); ++fault) {
    if (!runs.absent[fault].empty()) continue;
    table.rows.push_back({std::string(faults[fault].name), std::string(faults[fault].sentence)});
  }
  return table;
}

StudyChart cost_chart(const FaultRuns& runs) {
  StudyChart chart;
  chart.kind = StudyChart::Kind::bars;
  chart.key = "costs";
  chart.title = "Loss before and after each mistake (medians)";
  chart.y_label = "loss above the best";
  StudySeries before, after;
  before.label = "before";
  after.label = "after";
  const auto faults = position_faults();
  for (std::size_t fault = 0; fault < faults.size(); ++fault) {
    if (!runs.absent[fault].empty()) continue;
    chart.columns.emplace_back(faults[fault].name);
    // Bars begin at 0; chance alone can put a loss a little below the best possible.
    before.y.push_back(
        std::max(0.0, lower_median(figures_of(runs.trained, fault, [](const FaultOutcome& one) {
                   return one.before.above_best();
                 }))));
    after.y.push_back(
        std::max(0.0, lower_median(figures_of(runs.trained, fault, [](const FaultOutcome& one) {
                   return one.after.above_best();
                 }))));
  }
  chart.series = {before, after};
  return chart;
}

double largest_hand_difference(const FaultRuns& runs) {
  double largest = 0;
  for (const FaultNetwork& network : runs.trained) {
    if (network.finished) largest = std::max(largest, network.hand_difference);
  }
  return largest;
}

StudyControl control_of(const FaultRuns& runs) {
  const auto faults = position_faults();
  double most = 0;
  std::string which = "none";
  for (std::size_t fault = 0; fault < faults.size(); ++fault) {
    if (!runs.absent[fault].empty()) continue;
    const double cost = lower_median(figures_of(runs.untrained, fault, cost_of));
    if (cost > most) {
      most = cost;
      which = faults[fault].name;
    }
  }
  StudyControl control;
  control.what = "The same mistakes in the same networks before training.";
  control.check = "some mistake costs more than " + rounded(kCosts, 3) + ".";
  control.failed = most <= kCosts;
  control.figures = "the dearest is: " + which + ", " + fixed(most, 4) + ".";
  return control;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return text;
}

std::vector<std::string> reading_of(const FaultRuns& runs, const Contestant& contestant) {
  const auto faults = position_faults();
  std::vector<std::pair<double, std::string>> costly;
  std::vector<std::string> harmless, nothing, absent;
  for (std::size_t fault = 0; fault < faults.size(); ++fault) {
    const std::string verdict = verdict_of(runs, fault);
    const std::string name = faults[fault].name;
    if (!runs.absent[fault].empty()) {
      absent.push_back(name);
    } else if (verdict == "costs") {
      costly.emplace_back(lower_median(figures_of(runs.trained, fault, cost_of)), name);
    } else {
      (verdict == "harmless" ? harmless : nothing).push_back(name);
    }
  }
  std::sort(costly.rbegin(), costly.rend());
  std::vector<std::string> reading;
  std::vector<std::string> texts;
  for (const auto& [cost, name] : costly) texts.push_back(name + " " + fixed(cost, 3));
  if (!texts.empty())
    reading.push_back("What mistakes cost, dearest first: " + joined(texts) + '.');
  if (!harmless.empty()) {
    reading.push_back("Other logits, but a loss that grows by no more than " +
                      rounded(kHarmless, 3) + ": " + joined(harmless) +
                      ". A test that looks at the loss alone lets these pass.");
  }
  for (const std::string& name : nothing) {
    if (name == "padding counted" && contestant.facts.shift_keeps == ShiftKeeps::everything) {
      reading.push_back("Counting the padding changes nothing under " + contestant.name +
                        ": it shifts all positions of a row by one number, and the scheme goes by "
                        "their differences. Under an absolute scheme (sinusoidal, learned) it "
                        "changes logits: see --scheme sinusoidal.");
    } else {
      reading.push_back("No logit changes with " + name + ": under " + contestant.name +
                        " it is no mistake.");
    }
  }
  if (!absent.empty()) {
    reading.push_back(contestant.name + " has no place for: " + joined(absent) + '.');
  }
  return reading;
}

std::vector<std::pair<std::string, std::string>> setup_of(const PositionFaultsOptions& options,
                                                          const ExtrapolationTask& task,
                                                          const Contestant& contestant,
                                                          const FaultRuns& runs) {
  return {{"task", task.sentence()},
          {"scheme", contestant.trained + (contestant.facts.shift_keeps == ShiftKeeps::everything
                                               ? ", relative"
                                               : ", absolute")},
          {"networks", std::to_string(options.layers) + " causal layers, width " +
                           std::to_string(options.width) + ", " + std::to_string(options.heads) +
                           " heads, pre-LN; " + std::to_string(options.seeds) +
                           (options.seeds == 1 ? " seed" : " seeds") + " from " +
                           std::to_string(options.seed)},
          {"training", "AdamW, " + grouped(options.steps) + " steps of " +
                           std::to_string(options.batch) + " sequences of " +
                           std::to_string(options.tokens) + " tokens, rate " +
                           rounded(options.rate, 6)},
          {"tests", std::to_string(options.test_rows) + " sequences of " +
                        std::to_string(options.tokens) + " tokens (padding counted: the first " +
                        std::to_string(options.tokens - options.tokens / 4) +
                        ", behind padding at the left)"},
          {"passes",
           "values, masks and positions by hand, from the weights; that pass without mistakes "
           "differs from the model's by " +
               (measured(runs) ? rounded(largest_hand_difference(runs), 8) : std::string("?")) +
               " at most"}};
}

}  // namespace

StudyResult study_position_faults(const PositionFaultsOptions& options, const StudyRun& run) {
  check(options);
  const std::unique_ptr<ExtrapolationTask> task = fault_task(options);
  const Contestant contestant = contestants(fault_sizes(options)).front();
  const FaultRuns runs = run_position_faults(options, run);

  StudyResult result;
  result.name = "position-faults";
  result.question =
      "Which mistake in the use of positions costs a trained network how much, and which is seen "
      "in no loss?";
  result.setup = setup_of(options, *task, contestant, runs);
  result.tables = {fault_table(runs, task->parts()), sentence_table(runs),
                   network_table(options, runs)};
  result.complete = runs.complete;
  result.limits = {
      "Small networks on a generated language: which mistakes cost and which do not carries over, "
      "the figures do not.",
      "A mistake that was there in training already costs nothing of this: weights fit the code "
      "that trained them. These are mistakes of whoever runs them elsewhere."};
  if (!measured(runs)) return result;
  result.facts = {{"hand_pass_difference", largest_hand_difference(runs)}};
  result.charts = {cost_chart(runs)};
  result.controls = {control_of(runs)};
  result.reading = reading_of(runs, contestant);
  return result;
}

}  // namespace volvelle
