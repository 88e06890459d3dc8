// A small network that learns to look things up: each token of a sequence is a key with its value,
// the last one a key alone, and the network is to say its value. What happens in each layer is
// logged.
#include <cstdio>
#include <fstream>

#include "volvelle/nn/language_model.h"
#include "volvelle/ops/cross_entropy.h"
#include "volvelle/report/study_report.h"
#include "volvelle/studies/layer_log_tables.h"
#include "volvelle/training/layer_log.h"
#include "volvelle/training/recall_task.h"
#include "volvelle/training/trainer.h"

int main() {
  const volvelle::RecallOptions task{.batch = 32, .seed = 1};
  volvelle::LanguageModel model({.stack = {.layers = 2, .width = 32, .placement = "pre"},
                                 .vocabulary = volvelle::recall_vocabulary(task)});
  model.initialize(*volvelle::make_initializer({.seed = 0, .layers = 2}));

  volvelle::Trainer trainer(
      model, {.optimizer = {.name = "adamw"},
              .schedule = {.name = "cosine", .rate = 3e-3, .warm_up = 20, .steps = 300},
              .clip = 1,
              .measure_layers = true});
  volvelle::LayerLog log;
  double last_losses = 0;
  for (std::int64_t step = 0; step < 300; ++step) {
    const volvelle::RecallBatch batch = volvelle::recall_batch(task, step);
    const volvelle::StepReport report =
        trainer.step([&](std::int64_t, std::int64_t, const volvelle::ForwardOptions& how) {
          const volvelle::Variable logits = model.forward(batch.ids.view(), how);
          return volvelle::cross_entropy(logits, batch.labels.view());
        });
    if (!report.stepped) {
      std::printf("step %d: %s\n", static_cast<int>(report.step), report.trouble.c_str());
      return 1;
    }
    log.add(report);
    if (step >= 280) last_losses += report.loss / 20;
  }
  std::ofstream("layers.csv") << volvelle::study_csv(volvelle::layer_table(log));

  const bool learned = last_losses < 0.7 * volvelle::recall_guess(task);
  std::printf("the network looks values up: %s\n", learned ? "yes" : "no");
  return learned ? 0 : 1;
}
