// Fifty steps of a small network through the Trainer against PyTorch's: optimizers, clipping,
// schedule, shards.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "training/small_network.h"
#include "volvelle/training/trainer.h"

namespace volvelle {
namespace {

using testing::GoldenBatch;
using testing::SmallNetwork;

struct GoldenRun {
  const char* name;
  OptimizerOptions optimizer;
  double rate;
};

const GoldenRun kRuns[] = {
    {"adamw", {.beta1 = 0.85, .beta2 = 0.97, .epsilon = 1e-6, .decay = 0.1}, 2e-2},
    {"adamw_matrices",
     {.beta1 = 0.85, .beta2 = 0.97, .epsilon = 1e-6, .decay = 0.1, .decay_all = false},
     2e-2},
    {"sgd", {.name = "sgd", .decay = 0.01}, 0.5},
    {"momentum", {.name = "sgd", .momentum = 0.9}, 0.2},
    {"nesterov", {.name = "sgd", .decay = 0.02, .momentum = 0.8, .nesterov = true}, 0.2},
};

TrainerOptions options_of(const GoldenRun& run, std::int64_t shards = 1) {
  TrainerOptions options;
  options.optimizer = run.optimizer;
  options.schedule = {.name = "cosine", .rate = run.rate, .warm_up = 5, .steps = 50};
  options.clip = 0.4;
  options.shards = shards;
  return options;
}

class GoldenRuns : public ::testing::Test {
 protected:
  const Tensor& golden(const GoldenRun& run, const std::string& what) const {
    return *find_array(arrays_, std::string(run.name) + "." + what);
  }

  void expect_weight(const GoldenRun& run, const char* name, const Variable& weight,
                     double tolerance) {
    const Tensor& wanted = golden(run, name);
    for (std::int64_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR(element_as_double(weight.view(), i), wanted.data<double>()[i], tolerance)
          << run.name << ' ' << name << ' ' << i;
    }
  }

  void expect_run(const GoldenRun& run, DType dtype, double tolerance, std::int64_t shards) {
    SmallNetwork network(arrays_, dtype);
    Trainer trainer(network, options_of(run, shards));
    for (std::int64_t step = 0; step < 50; ++step) {
      const GoldenBatch batch(arrays_, step, dtype);
      const StepReport report = trainer.step(batch.loss(network));
      EXPECT_TRUE(report.stepped);
      EXPECT_NEAR(report.loss, golden(run, "losses").data<double>()[step], tolerance)
          << run.name << " step " << step;
      EXPECT_NEAR(report.gradient_norm, golden(run, "norms").data<double>()[step], tolerance)
          << run.name << " step " << step;
    }
    EXPECT_EQ(trainer.steps_done(), 50);
    expect_weight(run, "w1", network.w1, tolerance);
    expect_weight(run, "b1", network.b1, tolerance);
    expect_weight(run, "w2", network.w2, tolerance);
    expect_weight(run, "b2", network.b2, tolerance);
  }

  NamedArrays arrays_ = read_arrays(VOLVELLE_SOURCE_DIR "/tests/golden/training/runs.npz");
};

TEST_F(GoldenRuns, InDoubleTheyAreTheSame) {
  for (const GoldenRun& run : kRuns) expect_run(run, DType::float64, 1e-12, 1);
}

TEST_F(GoldenRuns, InFloatTheyStayClose) {
  for (const GoldenRun& run : kRuns) expect_run(run, DType::float32, 2e-5, 1);
}

TEST_F(GoldenRuns, ShardsOfABatchGiveItsGradients) {
  for (const std::int64_t shards : {2, 3, 6}) expect_run(kRuns[0], DType::float64, 1e-12, shards);
}

// The control: what each option is for shows in the figures.
TEST_F(GoldenRuns, AnOptionLeftOutIsNoticed) {
  const auto last_loss = [&](const TrainerOptions& options) {
    SmallNetwork network(arrays_);
    Trainer trainer(network, options);
    double loss = 0;
    for (std::int64_t step = 0; step < 50; ++step) {
      const GoldenBatch batch(arrays_, step, DType::float64);
      loss = trainer.step(batch.loss(network)).loss;
    }
    return loss;
  };
  const double wanted = golden(kRuns[0], "losses").data<double>()[49];
  const TrainerOptions right = options_of(kRuns[0]);
  EXPECT_NEAR(last_loss(right), wanted, 1e-12);
  TrainerOptions wrong = right;
  wrong.clip = 0;
  EXPECT_GT(std::abs(last_loss(wrong) - wanted), 1e-6) << "clipping";
  wrong = right;
  wrong.optimizer.decay = 0;
  EXPECT_GT(std::abs(last_loss(wrong) - wanted), 1e-6) << "decay";
  wrong = right;
  wrong.optimizer.decay_all = false;
  EXPECT_GT(std::abs(last_loss(wrong) - wanted), 1e-6) << "decay of biases";
  wrong = right;
  wrong.schedule.warm_up = 0;
  EXPECT_GT(std::abs(last_loss(wrong) - wanted), 1e-6) << "warm-up";
}

}  // namespace
}  // namespace volvelle
