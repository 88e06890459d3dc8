#include "volvelle/studies/norm_placement.h"

#include <memory>
#include <utility>

#include "base/thread_pool.h"
#include "studies/norm_placement_plan.h"
#include "studies/norm_placement_reading.h"
#include "studies/norm_placement_seed.h"
#include "studies/norm_placement_summary.h"
#include "studies/norm_placement_tables.h"
#include "studies/placement_bench.h"
#include "studies/placement_formulas.h"
#include "volvelle/base/threads.h"
#include "volvelle/nn/placement.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

constexpr const char* kName = "norm-placement";
constexpr const char* kQuestion =
    "At initialization, how evenly does the gradient reach the layers of a stack, by where its "
    "norms "
    "stand?";

std::string initialization_text(const NormPlacementOptions& options) {
  return std::string(name_of(options.initialization)) + ", from the " +
         std::string(name_of(options.stream)) + " stream";
}

std::string loss_text(const NormPlacementOptions& options) {
  if (options.loss == PlacementLoss::degenerate) return "mean square of the stack's output";
  return "cross-entropy of a linear head on random labels of " + std::to_string(options.classes) +
         " classes";
}

std::string final_norm_text(FinalNorm final_norm) {
  switch (final_norm) {
    case FinalNorm::yes:
      return "always";
    case FinalNorm::no:
      return "never";
    case FinalNorm::automatic:
      break;
  }
  return "where the placement leaves the stream un-normalised";
}

std::vector<std::pair<std::string, std::string>> setup_of(const PlacementPlan& plan) {
  const NormPlacementOptions& options = plan.options;
  std::vector<std::pair<std::string, std::string>> setup{
      {"stack", "width " + std::to_string(options.width) + ", " + std::to_string(options.heads) +
                    " heads, feed-forward " + std::to_string(options.feed_forward) + ", " +
                    std::string(name_of(options.activation))}};
  for (const std::string& placement : options.placements) {
    setup.emplace_back(placement, formulas_of(placement, options.depths.front()));
  }
  setup.insert(
      setup.end(),
      {{"final norm", final_norm_text(options.final_norm)},
       {"input", std::to_string(options.batch) + " x " + std::to_string(options.tokens) +
                     " tokens, standard normal"},
       {"loss", loss_text(options)},
       {"initial values", initialization_text(options)},
       {"seeds", std::to_string(options.seeds) + " from " + std::to_string(options.first_seed) +
                     "; all stacks of a seed start from the same numbers"},
       {"measured", options.measure == PlacementMeasure::stream
                        ? "the norm of the loss's gradient by each layer's input"
                        : "the norm of the loss's gradient by each layer's " + options.parameter}});
  return setup;
}

}  // namespace

StudyResult study_norm_placement(const NormPlacementOptions& options, const StudyRun& run) {
  const PlacementPlan plan = plan_norm_placement(options, run.threads);
  PlacementWatch watch(run, steps_of(plan));
  PlacementBenches benches(plan);
  std::vector<SeedMeasurements> seeds(static_cast<std::size_t>(options.seeds));
  parallel_for(options.seeds, plan.runs_at_once, [&](std::int64_t seed) {
    if (watch.stopped()) return;
    const ThreadScope scope(plan.threads_of_run);
    std::unique_ptr<PlacementBench> bench = benches.borrow();
    seeds[static_cast<std::size_t>(seed)] = measure_seed(plan, seed, *bench, watch);
    benches.give_back(std::move(bench));
  });
  std::vector<std::optional<CloseLook>> control = std::move(seeds.front().control);
  const PlacementSummary summary = summarise(plan, std::move(seeds));

  StudyResult result;
  result.name = kName;
  result.question = kQuestion;
  result.setup = setup_of(plan);
  result.tables = placement_tables(plan, summary);
  result.charts = placement_charts(plan, summary);
  StudyControl compared = placement_control(plan, control);
  if (!compared.tables.front().rows.empty()) result.controls.push_back(std::move(compared));
  result.reading = placement_reading(plan, summary);
  result.limits = placement_limits();
  result.complete = !watch.stopped_early();
  return result;
}

StudyResult list_norm_placements() {
  StudyResult result;
  result.name = kName;
  result.question = "Where do norms stand? Placements that have names, as formulas on the stream x";
  StudyTable table{.key = "rows",
                   .title = "Placements",
                   .columns = {{"placement", "placement"},
                               {"formula", ""},
                               {"what", "what it is"},
                               {"source", "source"}},
                   .rows = {}};
  for (const PlacementEntry& entry : norm_placements()) {
    const std::string formula = placement_formula(entry.slots);
    result.setup.emplace_back(entry.name, formula + words_of_formula(formula));
    table.rows.push_back(
        {std::string(entry.name), formula, std::string(entry.sentence), std::string(entry.source)});
  }
  result.tables.push_back(std::move(table));
  return result;
}

std::string_view name_of(PlacementLoss loss) noexcept {
  return loss == PlacementLoss::degenerate ? "degenerate" : "labels";
}

std::string_view name_of(PlacementMeasure measure) noexcept {
  return measure == PlacementMeasure::stream ? "stream" : "parameter";
}

}  // namespace volvelle
