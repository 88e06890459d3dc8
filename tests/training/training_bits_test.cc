// Twenty steps of a language model have the same bits for any number of threads, with activations
// computed again or kept, and however often they are run.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/instruction_sets.h"
#include "volvelle/base/threads.h"
#include "volvelle/nn/language_model.h"
#include "volvelle/ops/cross_entropy.h"
#include "volvelle/training/recall_task.h"
#include "volvelle/training/trainer.h"

namespace volvelle {
namespace {

struct Setting {
  int threads = 1;
  DType compute = DType::float32;
  std::int64_t shards = 1;
  bool recompute = false;
  double dropout = 0.1;
  std::uint64_t seed = 4;
};

// Sizes that no tile divides; gated and plain, packed and separate are nn's own tests.
LanguageModelOptions model_options(const Setting& setting, const RecallOptions& task) {
  LanguageModelOptions options;
  options.stack.layers = 3;
  options.stack.width = 36;
  options.stack.heads = 3;
  options.stack.feed_forward = 70;
  options.stack.activation = Activation::gelu_tanh;
  options.stack.causal = true;
  options.stack.dropout = setting.dropout;
  options.stack.recompute = setting.recompute;
  options.vocabulary = recall_vocabulary(task);
  options.positions = "learned(rows=" + std::to_string(task.pairs + 1) + ")";
  return options;
}

// Every loss, then every weight, as bits.
std::vector<unsigned char> run(const Setting& setting) {
  const RecallOptions task{.keys = 40, .values = 5, .pairs = 33, .batch = 7};
  LanguageModel model(model_options(setting, task));
  model.initialize(*make_initializer({.stream = RandomStream::philox, .seed = 8, .layers = 3}));
  TrainerOptions how;
  how.schedule = {.name = "cosine", .rate = 3e-3, .warm_up = 5, .steps = 20};
  how.clip = 0.5;
  how.compute = setting.compute;
  how.shards = setting.shards;
  how.seed = setting.seed;
  how.threads = setting.threads;
  how.measure_layers = true;
  Trainer trainer(model, how);
  std::vector<unsigned char> bits;
  const auto append = [&](const void* from, std::size_t bytes) {
    const auto* start = static_cast<const unsigned char*>(from);
    bits.insert(bits.end(), start, start + bytes);
  };
  for (int step = 0; step < 20; ++step) {
    const RecallBatch batch = recall_batch(task, step);
    const std::int64_t tokens = task.pairs + 1;
    const StepReport report =
        trainer.step([&](std::int64_t shard, std::int64_t shards, const ForwardOptions& forward) {
          const std::int64_t first = task.batch * shard / shards;
          const Shape shape{task.batch * (shard + 1) / shards - first, tokens};
          const View ids(batch.ids.data<std::int64_t>() + first * tokens, shape);
          const View labels(batch.labels.data<std::int64_t>() + first * tokens, shape);
          return cross_entropy(model.forward(ids, forward), labels, {.count = task.batch});
        });
    EXPECT_TRUE(report.stepped) << report.trouble;
    append(&report.loss, sizeof report.loss);
    append(&report.gradient_norm, sizeof report.gradient_norm);
    append(&report.parameters.back().update_norm, sizeof(double));
  }
  for (const NamedParameter& parameter : model.parameters()) {
    append(parameter.variable.value().raw(), parameter.variable.value().bytes());
  }
  return bits;
}

class TrainingBits : public testing::OnEveryInstructionSet {};

TEST_P(TrainingBits, AreTheSameForAnyNumberOfThreads) {
  for (const DType compute : {DType::float32, DType::bfloat16}) {
    const std::vector<unsigned char> one = run({.threads = 1, .compute = compute});
    EXPECT_TRUE(run({.threads = 2, .compute = compute}) == one) << name_of(compute);
    EXPECT_TRUE(run({.threads = 8, .compute = compute}) == one) << name_of(compute);
  }
}
VOLVELLE_ON_EVERY_INSTRUCTION_SET(Simd, TrainingBits);

TEST(TrainingBits, AreTheSameForAnyNumberOfThreadsWithShards) {
  const std::vector<unsigned char> one = run({.threads = 1, .shards = 3});
  EXPECT_TRUE(run({.threads = 2, .shards = 3}) == one);
  EXPECT_TRUE(run({.threads = 8, .shards = 3}) == one);
}

TEST(TrainingBits, AreTheSameWhenActivationsAreComputedAgain) {
  for (const DType compute : {DType::float32, DType::bfloat16}) {
    EXPECT_TRUE(run({.threads = 2, .compute = compute}) ==
                run({.threads = 2, .compute = compute, .recompute = true}))
        << name_of(compute);
  }
}

TEST(TrainingBits, ObeyTheProcessesThreadsWhereTheTrainerSaysNothing) {
  const std::vector<unsigned char> one = run({.threads = 1});
  const int before = threads();
  set_threads(3);
  EXPECT_TRUE(run({.threads = 0}) == one);
  set_threads(before);
}

// The control: what must change the bits does.
TEST(TrainingBits, DifferWhereTheRunDoes) {
  const std::vector<unsigned char> right = run({});
  EXPECT_TRUE(run({}) == right);
  EXPECT_FALSE(run({.seed = 5}) == right) << "other dropout";
  EXPECT_FALSE(run({.dropout = 0}) == right);
  EXPECT_FALSE(run({.compute = DType::bfloat16}) == right);
  EXPECT_FALSE(run({.shards = 2}) == right) << "sums in another order";
}

}  // namespace
}  // namespace volvelle
