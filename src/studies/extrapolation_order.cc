#include "studies/extrapolation_order.h"

#include <algorithm>

#include "studies/extrapolation_schemes.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/threads.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/ops/cross_entropy.h"
#include "volvelle/training/order_task.h"
#include "volvelle/training/trainer.h"

namespace volvelle {
namespace {

constexpr OrderOptions kTask{.fillers = 8, .tokens = 12, .batch = 32};
constexpr std::int64_t kTestBatch = std::int64_t{1} << 40;
constexpr std::int64_t kTestRows = 512;

double accuracy_of(const LanguageModel& model, std::uint64_t seed) {
  OrderOptions task = kTask;
  task.seed = seed;
  task.batch = kTestRows;
  const OrderBatch batch = order_batch(task, kTestBatch);
  const NoGrad off;
  const Variable logits = model.forward(batch.ids.view(), {.threads = 1});
  const std::int64_t vocabulary = order_vocabulary(task);
  std::int64_t right = 0;
  for (std::int64_t row = 0; row < kTestRows; ++row) {
    const std::int64_t place = row * task.tokens + task.tokens - 1;
    const float* said = logits.value().data<float>() + place * vocabulary;
    const std::int64_t mark = said[task.fillers] >= said[task.fillers + 1] ? 0 : 1;
    right += task.fillers + mark == batch.labels.data<std::int64_t>()[place] ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(kTestRows);
}

}  // namespace

std::int64_t order_steps(const ExtrapolationOptions& options) {
  return std::max<std::int64_t>(1, options.steps / 3);
}

OrderOutcome run_order(const ExtrapolationOptions& options, const OrderRun& run,
                       const std::function<bool(std::int64_t step)>& go_on) {
  const ThreadScope alone(1);
  OrderOptions task = kTask;
  task.seed = run.seed;
  LanguageModelOptions sizes = contest_model(options, order_vocabulary(task), run.positions);
  sizes.stack.causal = run.causal;
  LanguageModel model(sizes);
  model.initialize(*make_initializer(
      {.scheme = Initialization::torch, .seed = run.seed, .layers = options.layers}));
  Trainer trainer(
      model,
      {.schedule = {.name = "constant", .rate = 1e-3, .warm_up = 20}, .clip = 1, .threads = 1});
  for (std::int64_t step = 1; step <= order_steps(options); ++step) {
    if (!go_on(step)) return {};
    const OrderBatch batch = order_batch(task, step);
    trainer.step([&](std::int64_t, std::int64_t, const ForwardOptions& how) {
      return cross_entropy(model.forward(batch.ids.view(), how), batch.labels.view());
    });
  }
  return {.finished = true, .accuracy = accuracy_of(model, run.seed)};
}

}  // namespace volvelle
