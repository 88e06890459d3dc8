#include "studies/extrapolation_run.h"

#include <algorithm>
#include <cmath>

#include "volvelle/base/threads.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/stack.h"
#include "volvelle/ops/cross_entropy.h"
#include "volvelle/training/trainer.h"

namespace volvelle {
namespace {

// Rows of the tests come first; those that choose a rate lie behind any of them.
constexpr std::int64_t kValidationRow = std::int64_t{1} << 30;
constexpr std::int64_t kValidationRows = 64;

/// The table of a learned scheme; absent for others.
const Variable* learned_table(const std::vector<NamedParameter>& parameters, std::int64_t width) {
  for (const NamedParameter& parameter : parameters) {
    const Variable& table = parameter.variable;
    if (parameter.name.starts_with("positions.") && table.rank() == 2 &&
        table.shape()[1] == width) {
      return &table;
    }
  }
  return nullptr;
}

std::vector<float> values_of(const Variable& table) {
  const float* values = table.value().data<float>();
  return {values, values + table.value().size()};
}

std::vector<double> changes_of_rows(const std::vector<float>& before, const Variable& after) {
  const std::int64_t width = after.shape()[1];
  std::vector<double> changes;
  const float* value = after.value().data<float>();
  for (std::size_t i = 0; i < before.size(); i += static_cast<std::size_t>(width)) {
    double squares = 0;
    for (std::size_t j = i; j < i + static_cast<std::size_t>(width); ++j) {
      const double change = static_cast<double>(value[j]) - static_cast<double>(before[j]);
      squares += change * change;
    }
    changes.push_back(std::sqrt(squares / static_cast<double>(width)));
  }
  return changes;
}

}  // namespace

std::int64_t tokens_of_step(const ExtrapolationOptions& options, const ContestRun& run,
                            std::int64_t step) {
  return step % run.full_every == 0 ? options.train : options.train - options.train / 4;
}

std::unique_ptr<LanguageModel> first_network(const ExtrapolationOptions& options,
                                             const ExtrapolationTask& task,
                                             const std::string& positions, std::uint64_t seed) {
  auto model =
      std::make_unique<LanguageModel>(contest_model(options, task.vocabulary(), positions));
  model->initialize(
      *make_initializer({.scheme = Initialization::torch, .seed = seed, .layers = options.layers}));
  return model;
}

TrainedRun train_run(const ExtrapolationOptions& options, const ExtrapolationTask& task,
                     const ContestRun& run, const std::function<bool(std::int64_t step)>& go_on) {
  const ThreadScope alone(1);
  TrainedRun trained;
  trained.model = first_network(options, task, run.positions, run.seed);
  LanguageModel& model = *trained.model;
  trained.parameters = model.parameter_count();
  const std::vector<NamedParameter> parameters = model.parameters();
  const Variable* table = learned_table(parameters, options.width);
  const std::vector<float> first_rows = table != nullptr ? values_of(*table) : std::vector<float>();
  Trainer trainer(model, {.schedule = {.name = "cosine",
                                       .rate = run.rate,
                                       .warm_up = std::min<std::int64_t>(50, options.steps / 4),
                                       .steps = options.steps,
                                       .lowest = run.rate / 10},
                          .clip = 1,
                          .threads = 1});
  for (std::int64_t step = 1; step <= options.steps; ++step) {
    if (!go_on(step)) return trained;
    const ContestBatch batch =
        task.for_training(run.seed, step, options.batch, tokens_of_step(options, run, step));
    trainer.step([&](std::int64_t, std::int64_t, const ForwardOptions& how) {
      return cross_entropy(model.forward(batch.ids.view(), how), batch.labels.view());
    });
  }
  trained.finished = true;
  trained.validation =
      measure_bands(model, task,
                    {.seed = run.seed, .first = kValidationRow, .rows = kValidationRows},
                    options.train, {{0, options.train}})
          .front()
          .loss;
  if (table != nullptr) trained.row_changes = changes_of_rows(first_rows, *table);
  return trained;
}

bool ContestOutcome::counts(const std::vector<ContestPart>& parts) const {
  for (std::size_t part = 0; part < parts.size(); ++part) {
    // A loss that is no number is right nowhere.
    if (!(seen.parts[part].accuracy() >= parts[part].pass)) return false;
  }
  return std::isfinite(seen.loss);
}

std::vector<PositionBand> longer_bands(const ExtrapolationOptions& options) {
  std::vector<PositionBand> bands;
  std::int64_t from = options.train;
  for (const std::int64_t to : options.test) {
    if (to > from) bands.push_back({std::exchange(from, to), to});
  }
  return bands;
}

ContestOutcome test_run(const ExtrapolationOptions& options, const ExtrapolationTask& task,
                        const Contestant& contestant, const LanguageModel& model,
                        std::uint64_t seed) {
  const ThreadScope alone(1);
  const TestRows rows{.seed = seed, .first = 0, .rows = options.test_rows};
  ContestOutcome outcome;
  outcome.seen = measure_bands(model, task, rows, options.train, {{0, options.train}}).front();
  const std::vector<PositionBand> bands = longer_bands(options);
  for (const PositionBand& band : bands) {
    if (!contestant.reaches(band.to)) break;
    if (!contestant.rescaled) {
      outcome.bands.push_back(measure_bands(model, task, rows, band.to, {band}).front());
      continue;
    }
    LanguageModel rescaled(
        contest_model(options, task.vocabulary(), contestant.tested(band.to, options.train)));
    share_values(rescaled, model);
    outcome.bands.push_back(measure_bands(rescaled, task, rows, band.to, {band}).front());
  }
  outcome.windows = measure_in_windows(model, task, rows, options.train, bands);
  outcome.finished = true;
  return outcome;
}

}  // namespace volvelle
