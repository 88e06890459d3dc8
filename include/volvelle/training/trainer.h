#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/nn/forward.h"
#include "volvelle/nn/module.h"
#include "volvelle/training/optimizer.h"
#include "volvelle/training/schedule.h"

namespace volvelle {

struct TrainerOptions {
  OptimizerOptions optimizer = {};
  ScheduleOptions schedule = {};
  /// Largest norm of all gradients together, which are scaled down to it (as clip_grad_norm_ of
  /// PyTorch); 0: no limit.
  double clip = 0;
  std::int64_t shards = 1;         ///< parts of a batch, whose gradients are added in order
  DType compute = DType::float32;  ///< see ForwardOptions
  std::uint64_t seed = 0;          ///< of dropout
  bool measure_layers = false;     ///< fill StepReport::parameters
  int threads = 0;
};

/// Figures of one parameter in one step.
struct ParameterFigures {
  std::string name;
  double gradient_norm = 0;  ///< before clipping
  double weight_norm = 0;    ///< before the step
  double update_norm = 0;    ///< of what the step added
};

struct StepReport {
  std::int64_t step = 0;  ///< counted from 1
  double loss = 0;
  double rate = 0;
  double gradient_norm = 0;  ///< of all parameters, before clipping
  bool stepped = true;       ///< false: a loss or gradient was not finite, and nothing was changed
  std::string trouble;       ///< then: the first layer and tensor, and where in it
  std::vector<ParameterFigures> parameters;
};

/// One shard's share of the loss: what it adds to the batch's mean (CrossEntropyOptions::count).
/// Shards are counted from 0. `how` has compute type, dropout seed and threads.
using ShardLoss =
    std::function<Variable(std::int64_t shard, std::int64_t shards, const ForwardOptions& how)>;

/// Trains any module: a flat buffer holds all gradients, one step after another. Parameters that
/// require no gradient stay as they are. While it lives, it owns the gradients of the others.
class VOLVELLE_API Trainer {
 public:
  /// Throws InvalidArgument: options out of range, a module without parameters to train, those of
  /// several dtypes, and what make_optimizer and rate_at refuse.
  Trainer(Module& module, const TrainerOptions& options);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Loss and gradients of each shard, computed apart and added in order; clipping; the optimizer.
  /// The bits do not depend on the number of threads. A loss or gradient that is not finite ends
  /// the step: weights, moments and `steps_done` stay as they were, and `trouble` says where it
  /// began.
  StepReport step(const ShardLoss& loss);

  const TrainerOptions& options() const noexcept;
  std::int64_t steps_done() const noexcept;
  std::int64_t state_bytes() const;  ///< gradients, moments

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace volvelle
