// The Trainer: what it measures, what a number that is not finite does, what it refuses.
#include "volvelle/training/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>

#include "training/small_network.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/base/threads.h"
#include "volvelle/ops/add.h"
#include "volvelle/ops/scale.h"
#include "volvelle/ops/sums.h"

namespace volvelle {
namespace {

using testing::GoldenBatch;
using ::testing::HasSubstr;
using testing::SmallNetwork;
using ::testing::ThrowsMessage;

class TrainerTest : public ::testing::Test {
 protected:
  const NamedArrays arrays_ = read_arrays(VOLVELLE_SOURCE_DIR "/tests/golden/training/runs.npz");
  SmallNetwork network_{arrays_, DType::float32};
  const GoldenBatch batch_{arrays_, 0, DType::float32};
  TrainerOptions options_;

  std::vector<Tensor> weights() const {
    std::vector<Tensor> copies;
    for (const NamedParameter& parameter : network_.parameters()) {
      copies.push_back(copy_of(parameter.variable.view()));
    }
    return copies;
  }

  bool weights_are(const std::vector<Tensor>& wanted) const {
    const std::vector<NamedParameter> parameters = network_.parameters();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Tensor& weight = parameters[i].variable.value();
      if (std::memcmp(weight.raw(), wanted[i].raw(), weight.bytes()) != 0) return false;
    }
    return true;
  }
};

double norm_of(const View& view, std::int64_t size) {
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    sum += element_as_double(view, i) * element_as_double(view, i);
  }
  return std::sqrt(sum);
}

TEST_F(TrainerTest, MeasuresEveryParameterOfAStep) {
  options_.measure_layers = true;
  options_.clip = 1e-3;  // the gradient's norm is of what was before clipping
  const std::vector<Tensor> before = weights();
  backward(batch_.loss(network_)(0, 1, {}));
  std::vector<double> wanted;
  for (NamedParameter& parameter : network_.parameters()) {
    wanted.push_back(norm_of(parameter.variable.grad().view(), parameter.variable.size()));
    parameter.variable.clear_grad();
  }
  Trainer trainer(network_, options_);
  const StepReport report = trainer.step(batch_.loss(network_));
  const std::vector<NamedParameter> parameters = network_.parameters();
  ASSERT_EQ(report.parameters.size(), 4u);
  double all = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const ParameterFigures& figures = report.parameters[i];
    const std::int64_t size = before[i].size();
    EXPECT_EQ(figures.name, parameters[i].name);
    EXPECT_NEAR(figures.gradient_norm, wanted[i], 1e-6 * wanted[i]);
    EXPECT_NEAR(figures.weight_norm, norm_of(before[i].view(), size), 1e-6);
    double change = 0;
    for (std::int64_t k = 0; k < size; ++k) {
      const double d = element_as_double(parameters[i].variable.view(), k) -
                       element_as_double(before[i].view(), k);
      change += d * d;
    }
    EXPECT_NEAR(figures.update_norm, std::sqrt(change), 1e-4 * std::sqrt(change));
    EXPECT_GT(figures.update_norm, 0);
    all = std::hypot(all, wanted[i]);
  }
  EXPECT_NEAR(report.gradient_norm, all, 1e-6 * all);
}

TEST_F(TrainerTest, MeasuringChangesNoBit) {
  SmallNetwork other(arrays_, DType::float32);
  options_.clip = 0.3;
  Trainer plain(network_, options_);
  options_.measure_layers = true;
  Trainer measured(other, options_);
  for (int i = 0; i < 3; ++i) {
    plain.step(batch_.loss(network_));
    measured.step(batch_.loss(other));
  }
  EXPECT_EQ(
      std::memcmp(network_.w1.value().raw(), other.w1.value().raw(), other.w1.value().bytes()), 0);
}

TEST_F(TrainerTest, ALossThatIsNotFiniteLeavesEverythingAsItWas) {
  Trainer trainer(network_, options_);
  trainer.step(batch_.loss(network_));
  const std::vector<Tensor> before = weights();
  const StepReport report = trainer.step([&](std::int64_t shard, std::int64_t shards,
                                             const ForwardOptions& how) {
    return scale(batch_.loss(network_)(shard, shards, how), std::numeric_limits<float>::infinity());
  });
  EXPECT_FALSE(report.stepped);
  EXPECT_EQ(report.step, 2);
  EXPECT_TRUE(std::isinf(report.loss));
  EXPECT_THAT(report.trouble, HasSubstr("the loss is inf"));
  EXPECT_THAT(report.trouble, HasSubstr("scale"));
  EXPECT_TRUE(weights_are(before));
  EXPECT_EQ(trainer.steps_done(), 1);
}

TEST_F(TrainerTest, AfterAStoppedStepARunGoesOnAsIfThereHadBeenNone) {
  SmallNetwork other(arrays_, DType::float32);
  Trainer straight(other, options_), stopped(network_, options_);
  const auto broken = [&](std::int64_t shard, std::int64_t shards, const ForwardOptions& how) {
    return scale(batch_.loss(network_)(shard, shards, how), std::nan(""));
  };
  for (int i = 0; i < 3; ++i) {
    straight.step(batch_.loss(other));
    EXPECT_FALSE(stopped.step(broken).stepped);
    EXPECT_TRUE(stopped.step(batch_.loss(network_)).stepped);
  }
  EXPECT_EQ(
      std::memcmp(network_.w2.value().raw(), other.w2.value().raw(), other.w2.value().bytes()), 0);
}

TEST_F(TrainerTest, AParameterThatIsNotFiniteIsNamedWithItsPlace) {
  static_cast<float*>(network_.w1.change().data())[7] = std::numeric_limits<float>::quiet_NaN();
  Trainer trainer(network_, options_);
  EXPECT_THAT(trainer.step(batch_.loss(network_)).trouble,
              HasSubstr("parameter layers.0.w1 was not finite before, at (1,2): nan"));
}

TEST_F(TrainerTest, AResultThatIsNotFiniteIsNamedWithItsLayer) {
  static_cast<float*>(network_.w2.change().data())[0] = 3e38f;
  static_cast<float*>(network_.w2.change().data())[1] = 3e38f;
  for (int i = 0; i < 7; ++i) static_cast<float*>(network_.b1.change().data())[i] = 100;
  Trainer trainer(network_, options_);
  const std::string trouble = trainer.step(batch_.loss(network_)).trouble;
  EXPECT_THAT(trouble, HasSubstr("linear"));
  EXPECT_THAT(trouble, HasSubstr("layers.0.w2"));
  EXPECT_THAT(trouble, HasSubstr("(0,0)"));
}

TEST_F(TrainerTest, AGradientThatIsNotFiniteIsNamedWithItsPlace) {
  Trainer trainer(network_, options_);
  const std::vector<Tensor> before = weights();
  const StepReport report =
      trainer.step([&](std::int64_t shard, std::int64_t shards, const ForwardOptions& how) {
        // Forward it vanishes on the way, and stays 0; backward the factors meet the other way
        // round.
        Variable loss = scale(scale(batch_.loss(network_)(shard, shards, how), 1e-30), 1e-30);
        for (int i = 0; i < 3; ++i) loss = scale(loss, 1e30);
        return loss;
      });
  EXPECT_EQ(report.loss, 0);
  EXPECT_FALSE(report.stepped);
  EXPECT_THAT(report.trouble, HasSubstr("the gradient of layers.0.w1 is not finite at (0,0): "));
  EXPECT_THAT(report.trouble, HasSubstr("4 of 4 gradients, the last of them that of layers.0.b2"));
  EXPECT_TRUE(weights_are(before));
  EXPECT_EQ(trainer.steps_done(), 0);
}

TEST_F(TrainerTest, ForwardOptionsAreHandedDown) {
  options_.compute = DType::bfloat16;
  options_.threads = 1;
  options_.shards = 2;
  options_.seed = 9;
  Trainer trainer(network_, options_);
  std::set<std::uint64_t> seeds;
  for (int i = 0; i < 2; ++i) {
    trainer.step([&](std::int64_t shard, std::int64_t shards, const ForwardOptions& how) {
      EXPECT_TRUE(how.training);
      EXPECT_EQ(how.compute, DType::bfloat16);
      EXPECT_EQ(how.threads, 1);
      EXPECT_EQ(threads(), 1) << "for operators without an option";
      EXPECT_EQ(shards, 2);
      seeds.insert(how.dropout_seed);
      return batch_.loss(network_)(shard, shards, how);
    });
  }
  EXPECT_EQ(seeds.size(), 4u) << "one for each step and shard";
}

TEST_F(TrainerTest, FrozenParametersStay) {
  network_.w1.set_requires_grad(false);
  network_.b1.set_requires_grad(false);
  const Tensor before = copy_of(network_.w1.view());
  Trainer trainer(network_, options_);
  trainer.step(batch_.loss(network_));
  EXPECT_EQ(std::memcmp(network_.w1.value().raw(), before.raw(), before.bytes()), 0);
  network_.w2.set_requires_grad(false);
  network_.b2.set_requires_grad(false);
  EXPECT_THAT([&] { Trainer(network_, options_); },
              ThrowsMessage<InvalidArgument>(HasSubstr("no parameters")));
}

TEST_F(TrainerTest, AParameterThatNoShardReachedStaysWithItsState) {
  Trainer trainer(network_, options_);
  const Tensor before = copy_of(network_.w2.view());
  const Variable x(batch_.x);
  const StepReport report = trainer.step([&](std::int64_t, std::int64_t, const ForwardOptions&) {
    return cross_entropy(linear(x, network_.w1, network_.b1), batch_.labels.view());
  });
  EXPECT_TRUE(report.stepped);
  EXPECT_EQ(std::memcmp(network_.w2.value().raw(), before.raw(), before.bytes()), 0);
  EXPECT_FALSE(network_.w2.grad());
  EXPECT_TRUE(network_.w1.grad());
}

TEST_F(TrainerTest, WhatAShardDoesNotReachGetsNothingFromEarlierOnes) {
  options_.shards = 3;
  options_.schedule.rate = 0;  // the weights stay, so every step has the same gradients
  const Variable x(batch_.x);
  for (const std::int64_t reaching : {0, 1, 2}) {
    const ShardLoss loss = [&](std::int64_t shard, std::int64_t, const ForwardOptions&) {
      const Variable hidden = linear(x, network_.w1, network_.b1);
      return cross_entropy(shard == reaching ? linear(hidden, network_.w2, network_.b2) : hidden,
                           batch_.labels.view());
    };
    backward(loss(reaching, 3, {}));
    const Tensor wanted = copy_of(network_.w2.grad().view());
    Trainer trainer(network_, options_);
    trainer.step(loss);  // leaves gradients in both buffers
    trainer.step(loss);
    EXPECT_EQ(std::memcmp(network_.w2.grad().raw(), wanted.raw(), wanted.bytes()), 0) << reaching;
  }
}

TEST_F(TrainerTest, AllLabelsIgnoredIsAStepOfZeroGradients) {
  options_.optimizer.decay = 0;
  Tensor labels(DType::int64, {6});
  for (int i = 0; i < 6; ++i) labels.data<std::int64_t>()[i] = -100;
  const std::vector<Tensor> before = weights();
  Trainer trainer(network_, options_);
  const StepReport report = trainer.step([&](std::int64_t, std::int64_t, const ForwardOptions&) {
    return cross_entropy(network_.logits(Variable(batch_.x)), labels.view());
  });
  EXPECT_EQ(report.loss, 0);
  EXPECT_EQ(report.gradient_norm, 0);
  EXPECT_TRUE(report.stepped);
  EXPECT_TRUE(weights_are(before));
}

TEST_F(TrainerTest, SharedNumbersAreCopiedBeforeTheyChange) {
  network_.w1.make_read_only();
  const Tensor shared = network_.w1.value();
  const Tensor before = copy_of(shared.view());
  Trainer trainer(network_, options_);
  trainer.step(batch_.loss(network_));
  EXPECT_EQ(std::memcmp(shared.raw(), before.raw(), before.bytes()), 0);
  EXPECT_NE(std::memcmp(network_.w1.value().raw(), before.raw(), before.bytes()), 0);
}

TEST_F(TrainerTest, GradientsAreTheModulesOwnAgainAfterwards) {
  {
    Trainer trainer(network_, options_);
  }
  backward(batch_.loss(network_)(0, 1, {}));
  const Tensor first = network_.w1.grad();
  network_.w1.clear_grad();
  backward(batch_.loss(network_)(0, 1, {}));
  EXPECT_NE(network_.w1.grad().raw(), first.raw());
}

TEST_F(TrainerTest, CountsItsMemory) {
  const std::int64_t elements = 48 + 16 + 32 + 16;  // 35, 7, 21, 3 in steps of 64 bytes
  EXPECT_EQ(Trainer(network_, options_).state_bytes(), 4 * elements + 2 * 4 * 66);
  options_.shards = 2;
  options_.optimizer = {.name = "sgd"};
  EXPECT_EQ(Trainer(network_, options_).state_bytes(), 2 * 4 * elements);
  options_.optimizer.momentum = 0.5;
  EXPECT_EQ(Trainer(network_, options_).state_bytes(), 2 * 4 * elements + 4 * 66);
}

TEST_F(TrainerTest, BadOptionsAreRefused) {
  const auto refused = [&](const char* text, auto&& change) {
    TrainerOptions options;
    change(options);
    EXPECT_THAT([&] { Trainer(network_, options); },
                ThrowsMessage<InvalidArgument>(HasSubstr(text)))
        << text;
  };
  refused("rate -0.1", [](auto& o) { o.schedule.rate = -0.1; });
  refused("did you mean 'constant'?", [](auto& o) { o.schedule.name = "constnt"; });
  refused("did you mean 'adamw'?", [](auto& o) { o.optimizer.name = "adam"; });
  refused("0 shards", [](auto& o) { o.shards = 0; });
  refused("-2 shards", [](auto& o) { o.shards = -2; });
  refused("clip -1", [](auto& o) { o.clip = -1; });
  refused("clip nan", [](auto& o) { o.clip = std::nan(""); });
  refused("compute float16", [](auto& o) { o.compute = DType::float16; });
  refused("threads", [](auto& o) { o.threads = -1; });
  refused("beta1 1", [](auto& o) { o.optimizer.beta1 = 1; });
  refused("beta2 -0.5", [](auto& o) { o.optimizer.beta2 = -0.5; });
  refused("epsilon 0", [](auto& o) { o.optimizer.epsilon = 0; });
  refused("decay -0.1", [](auto& o) { o.optimizer.decay = -0.1; });
  refused("has no momentum", [](auto& o) { o.optimizer.momentum = 0.9; });
  refused("has no nesterov", [](auto& o) { o.optimizer.nesterov = true; });
  refused("has no beta1", [](auto& o) { o.optimizer = {.name = "sgd", .beta1 = 0.8}; });
  refused("has no beta2", [](auto& o) { o.optimizer = {.name = "sgd", .beta2 = 0.8}; });
  refused("has no epsilon", [](auto& o) { o.optimizer = {.name = "sgd", .epsilon = 1e-3}; });
  refused("momentum 1", [](auto& o) { o.optimizer = {.name = "sgd", .momentum = 1}; });
  refused("nesterov looks", [](auto& o) { o.optimizer = {.name = "sgd", .nesterov = true}; });
  SmallNetwork wide(arrays_, DType::float64);
  options_.compute = DType::bfloat16;
  EXPECT_THAT([&] { Trainer(wide, options_); },
              ThrowsMessage<InvalidArgument>(HasSubstr("no meaning with parameters in float64")));
}

TEST_F(TrainerTest, ALossThatIsNoNumberIsRefused) {
  Trainer trainer(network_, options_);
  const auto step = [&](auto&& loss) {
    return [&trainer, loss] {
      trainer.step([&](std::int64_t, std::int64_t, const ForwardOptions&) { return loss(); });
    };
  };
  EXPECT_THAT(step([&] { return network_.logits(Variable(batch_.x)); }),
              ThrowsMessage<InvalidArgument>(HasSubstr("one floating number, not (6,3)")));
  EXPECT_THAT(step([] { return Variable(); }), ThrowsMessage<InvalidArgument>(HasSubstr("absent")));
  EXPECT_THAT(step([] { return Variable(Tensor::zeros(DType::float32, {})); }),
              ThrowsMessage<InvalidArgument>(HasSubstr("hangs on no variable")));
}

TEST(OptimizerTest, AWeightThatBecameReadOnlyStopsAStepBeforeItChangesAny) {
  for (const char* name : {"adamw", "sgd"}) {
    Variable first(Tensor::zeros(DType::float32, {2}), true);
    Variable second(Tensor::zeros(DType::float32, {2}), true);
    const auto optimizer = make_optimizer({{"first", first}, {"second", second}}, {.name = name});
    backward(sum(add(first, second)));
    second.make_read_only();
    EXPECT_THROW(optimizer->step(0.1, 1, {}), InvalidArgument);
    EXPECT_EQ(first.value().data<float>()[0], 0);
  }
}

TEST(OptimizerTest, WhoIsRefusedKeepsSharedNumbers) {
  Variable shared(Tensor::zeros(DType::float32, {2}), true);
  shared.make_read_only();
  EXPECT_THROW(make_optimizer({{"shared", shared}}, {.name = "sgd", .beta1 = 0.5}),
               InvalidArgument);
  EXPECT_TRUE(shared.is_read_only());
}

TEST(OptimizerTest, ParametersInHalfTypesAreRefused) {
  const Variable half(Tensor::zeros(DType::bfloat16, {2}), true);
  EXPECT_THAT([&] { make_optimizer({{"w", half}}, {}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("'w' is bfloat16")));
  EXPECT_THAT([] { make_optimizer({}, {}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("no parameters")));
}

}  // namespace
}  // namespace volvelle
