#include "studies/warm_up_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/threads.h"
#include "volvelle/nn/embedding.h"
#include "volvelle/nn/linear.h"
#include "volvelle/nn/stack.h"
#include "volvelle/ops/cross_entropy.h"
#include "volvelle/training/trainer.h"

namespace volvelle {
namespace {

/// Tokens to the classes of the label: a table, a stack, a head. No positions.
class RecallNetwork : public Module {
 public:
  RecallNetwork(const WarmUpOptions& options, const std::string& placement, std::int64_t depth)
      : embedding_(recall_vocabulary(warm_up_task(options)), options.width),
        stack_(
            {.layers = depth,
             .width = options.width,
             .heads = options.heads,
             .feed_forward = options.feed_forward != 0 ? options.feed_forward : 4 * options.width,
             .placement = placement,
             .norm = options.norm}),
        head_(options.width, warm_up_task(options).values) {
    add_module("embedding", embedding_);
    add_module("stack", stack_);
    add_module("head", head_);
  }

  void initialize(Initializer& initializer) {
    embedding_.initialize(initializer);
    stack_.initialize(initializer);
    head_.initialize(initializer);
  }

  Variable loss(const RecallBatch& batch, const ForwardOptions& how) const {
    const Variable stream = stack_.forward(embedding_.forward(batch.ids.view()), how);
    return cross_entropy(head_.forward(stream, how), batch.labels.view());
  }

 private:
  Embedding embedding_;
  Stack stack_;
  Linear head_;
};

struct UntrainedLoss {
  double mean = 0, spread = 0;  ///< over batches
};

/// Over more batches than a verdict looks at: that of one batch is a draw of few labels.
UntrainedLoss untrained_loss(const RecallNetwork& network, const RecallOptions& task) {
  constexpr int kBatches = 3 * VerdictWatch::kWindow;
  const NoGrad off;
  double sum = 0, squares = 0;
  for (int i = 0; i < kBatches; ++i) {
    const Variable variable = network.loss(recall_batch(task, i), {.threads = 1});
    const double loss = element_as_double(variable.view(), 0);
    sum += loss;
    squares += loss * loss;
  }
  const double mean = sum / kBatches;
  return {mean, std::sqrt(std::max(0.0, squares / kBatches - mean * mean))};
}

void add_to_means(std::vector<LayerFigures>& means, const std::vector<LayerFigures>& figures) {
  if (means.empty()) {
    means = figures;
    return;
  }
  for (std::size_t i = 0; i < means.size(); ++i) {
    means[i].gradient_norm += figures[i].gradient_norm;
    means[i].weight_norm += figures[i].weight_norm;
    means[i].update_norm += figures[i].update_norm;
    means[i].update_ratio += figures[i].update_ratio;
  }
}

std::vector<LayerFigures> first_steps(const LayerLog& log) {
  std::vector<LayerFigures> means;
  double steps = 0;
  for (const LayerRecord& record : log.records()) {
    if (!record.stepped) continue;
    add_to_means(means, record.layers);
    ++steps;
  }
  for (LayerFigures& layer : means) {
    layer.gradient_norm /= steps;
    layer.weight_norm /= steps;
    layer.update_norm /= steps;
    layer.update_ratio /= steps;
  }
  return means;
}

}  // namespace

RecallOptions warm_up_task(const WarmUpOptions& options) {
  const std::int64_t pairs = options.tokens - 1;
  std::int64_t values = 4;
  while (values > 1 && pairs % values != 0) --values;
  return {.keys = pairs, .values = values, .pairs = pairs, .batch = options.batch};
}

void check_network(const WarmUpOptions& options, const std::string& placement, std::int64_t depth) {
  RecallNetwork(options, placement, depth);
}

WarmUpOutcome train_once(const WarmUpOptions& options, const WarmUpRun& run,
                         const std::function<bool(std::int64_t step)>& go_on) {
  const ThreadScope alone(1);
  RecallOptions task = warm_up_task(options);
  task.seed = run.seed;
  task.shuffled = run.shuffled;
  RecallNetwork network(options, run.placement, run.depth);
  network.initialize(
      *make_initializer({.scheme = options.initialization, .seed = run.seed, .layers = run.depth}));
  Trainer trainer(network, {.optimizer = {.name = options.optimizer},
                            .schedule = arm_schedule(run.arm, run.rate, options.steps),
                            .measure_layers = run.measure_layers,
                            .threads = 1});

  WarmUpOutcome outcome;
  const UntrainedLoss untrained = untrained_loss(network, task);
  outcome.first_loss = untrained.mean;
  VerdictWatch watch(untrained.mean, recall_guess(task), untrained.spread);
  LayerLog log;
  for (std::int64_t step = 1; step <= options.steps && !watch.broken(); ++step) {
    if (!go_on(step)) return outcome;
    // Batches that the first loss was not measured on.
    const RecallBatch batch = recall_batch(task, VerdictWatch::kWindow + step);
    const StepReport report =
        trainer.step([&](std::int64_t, std::int64_t, const ForwardOptions& how) {
          return network.loss(batch, how);
        });
    // A step that a gradient stopped is no step, whatever its loss.
    watch.add(report.stepped ? report.loss : std::numeric_limits<double>::quiet_NaN());
    if (run.measure_layers && step <= kFirstSteps) log.add(report);
    outcome.trouble = report.trouble;
    outcome.steps = step;
  }
  outcome.finished = true;
  outcome.verdict = watch.verdict();
  outcome.last_loss = watch.last_mean();
  outcome.layers = first_steps(log);
  return outcome;
}

}  // namespace volvelle
