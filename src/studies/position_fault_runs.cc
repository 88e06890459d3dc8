#include "studies/position_fault_runs.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "base/thread_pool.h"
#include "studies/hand_pass.h"
#include "studies/position_fault_list.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/threads.h"

namespace volvelle {
namespace {

double largest_change(const Tensor& one, const Tensor& other, std::int64_t places) {
  const std::int64_t rows = one.shape()[0], tokens = one.shape()[1], count = one.shape()[2];
  double largest = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* a = one.data<float>() + row * tokens * count;
    const float* b = other.data<float>() + row * tokens * count;
    for (std::int64_t i = 0; i < places * count; ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    }
  }
  return largest;
}

FaultNetwork with_every_fault(const PositionFaultsOptions& options, const ExtrapolationTask& task,
                              const LanguageModel& model, const PositionFacts& facts,
                              std::uint64_t seed) {
  const NoGrad off;
  const ThreadScope alone(1);
  const ContestBatch batch = task.for_test(seed, 0, options.test_rows, options.tokens);
  const FaultSubject subject{.model = model, .facts = facts, .ids = batch.ids};
  FaultNetwork network;
  network.hand_difference =
      largest_change(hand_pass(model, batch.ids.view()).value(),
                     model.forward(batch.ids.view(), {.threads = 1}).value(), options.tokens);
  for (const PositionFault& fault : position_faults()) {
    FaultOutcome& outcome = network.outcomes.emplace_back();
    if (fault.absent(subject) != nullptr) continue;
    const FaultLogits logits = fault.run(subject);
    const PositionBand band{0, logits.places != 0 ? logits.places : options.tokens};
    outcome.before = measure_logits(task, batch, logits.right.value(), band);
    outcome.after = measure_logits(task, batch, logits.wrong.value(), band);
    outcome.moved = largest_change(logits.right.value(), logits.wrong.value(), band.to);
  }
  network.finished = true;
  return network;
}

}  // namespace

std::unique_ptr<ExtrapolationTask> fault_task(const PositionFaultsOptions& options) {
  return make_language_contest(options.tokens);
}

ExtrapolationOptions fault_sizes(const PositionFaultsOptions& options) {
  ExtrapolationOptions sizes;
  sizes.schemes = {options.scheme};
  sizes.train = options.tokens;
  sizes.test = {options.tokens};
  sizes.rates = {options.rate};
  sizes.steps = options.steps;
  sizes.seeds = options.seeds;
  sizes.seed = options.seed;
  sizes.width = options.width;
  sizes.heads = options.heads;
  sizes.layers = options.layers;
  sizes.batch = options.batch;
  sizes.test_rows = options.test_rows;
  return sizes;
}

FaultRuns run_position_faults(const PositionFaultsOptions& options, const StudyRun& run) {
  const ExtrapolationOptions sizes = fault_sizes(options);
  const std::unique_ptr<ExtrapolationTask> task = fault_task(options);
  const Contestant contestant = contestants(sizes).front();
  FaultRuns runs;
  {
    const std::unique_ptr<LanguageModel> model =
        first_network(sizes, *task, contestant.trained, options.seed);
    const Tensor ids(DType::int64, {1, 1});
    const FaultSubject subject{.model = *model, .facts = contestant.facts, .ids = ids};
    for (const PositionFault& fault : position_faults()) {
      const char* why = fault.absent(subject);
      runs.absent.emplace_back(why != nullptr ? why : "");
    }
  }
  runs.trained.resize(static_cast<std::size_t>(options.seeds));
  runs.untrained.resize(static_cast<std::size_t>(options.seeds));
  std::mutex mutex;
  std::atomic<bool> stopped = false;
  std::int64_t done = 0;
  // The caller's functions are called by one thread at a time.
  const auto go_on = [&](std::int64_t) {
    const std::lock_guard lock(mutex);
    ++done;
    if (run.stopped && run.stopped()) stopped = true;
    if (run.progress) {
      run.progress(std::min(1.0, static_cast<double>(done) /
                                     static_cast<double>(options.seeds * options.steps)),
                   contestant.trained);
    }
    return !stopped;
  };
  parallel_for(options.seeds, resolve_threads(run.threads), [&](std::int64_t number) {
    const auto at = static_cast<std::size_t>(number);
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(number);
    if (stopped) return;
    const TrainedRun trained = train_run(
        sizes, *task, {.positions = contestant.trained, .rate = options.rate, .seed = seed}, go_on);
    if (!trained.finished) return;
    runs.trained[at] = with_every_fault(options, *task, *trained.model, contestant.facts, seed);
    const std::unique_ptr<LanguageModel> untrained =
        first_network(sizes, *task, contestant.trained, seed);
    runs.untrained[at] = with_every_fault(options, *task, *untrained, contestant.facts, seed);
  });
  for (const FaultNetwork& network : runs.trained) {
    runs.complete = runs.complete && network.finished;
  }
  return runs;
}

}  // namespace volvelle
