// A stack of every placement learns to recall, and none learns shuffled labels.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "volvelle/nn/language_model.h"
#include "volvelle/nn/placement.h"
#include "volvelle/ops/cross_entropy.h"
#include "volvelle/training/recall_task.h"
#include "volvelle/training/trainer.h"

namespace volvelle {
namespace {

constexpr int kSteps = 150, kLast = 20;

// Mean loss of the last steps as a share of the guess.
double final_loss(const std::string& placement, bool shuffled) {
  const RecallOptions task{
      .keys = 4, .values = 4, .pairs = 4, .batch = 32, .seed = 1, .shuffled = shuffled};
  LanguageModelOptions options;
  options.stack.layers = 2;
  options.stack.width = 32;
  options.stack.heads = 2;
  options.stack.feed_forward = 64;
  options.stack.placement = placement;
  options.vocabulary = recall_vocabulary(task);
  options.tied = false;
  LanguageModel model(options);
  const auto initializer =
      make_initializer({.stream = RandomStream::philox, .seed = 3, .layers = 2});
  model.initialize(*initializer);
  TrainerOptions how;
  how.schedule = {.rate = 1e-2, .warm_up = 20};
  how.clip = 1;
  Trainer trainer(model, how);
  double sum = 0;
  for (int step = 0; step < kSteps; ++step) {
    const RecallBatch batch = recall_batch(task, step);
    const StepReport report =
        trainer.step([&](std::int64_t, std::int64_t, const ForwardOptions& forward) {
          return cross_entropy(model.forward(batch.ids.view(), forward), batch.labels.view());
        });
    EXPECT_TRUE(report.stepped) << report.trouble;
    if (step >= kSteps - kLast) sum += report.loss / kLast;
  }
  return sum / recall_guess(task);
}

TEST(Learning, AStackOfEveryPlacementLearnsToRecall) {
  ASSERT_GE(norm_placements().size(), 8u);
  for (const PlacementEntry& placement : norm_placements()) {
    EXPECT_LT(final_loss(placement.name, false), 0.1) << placement.name;
  }
}

TEST(Learning, NoneLearnsShuffledLabels) {
  for (const char* placement : {"pre", "post"}) {
    EXPECT_GT(final_loss(placement, true), 0.9) << placement;
  }
}

}  // namespace
}  // namespace volvelle
