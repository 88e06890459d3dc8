#include "volvelle/training/trainer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "base/philox.h"
#include "training/flat_gradients.h"
#include "training/trouble.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/base/error.h"
#include "volvelle/base/memory_reuse.h"
#include "volvelle/base/threads.h"
#include "volvelle/ops/sums.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("[trainer] " + text); }

std::vector<NamedParameter> trained_parameters(const Module& module) {
  std::vector<NamedParameter> trained = module.parameters();
  std::erase_if(
      trained, [](const NamedParameter& parameter) { return !parameter.variable.requires_grad(); });
  if (trained.empty()) refuse("the module has no parameters that require a gradient");
  const NamedParameter& first = trained.front();
  for (const NamedParameter& parameter : trained) {
    if (parameter.variable.dtype() == first.variable.dtype()) continue;
    refuse("'" + parameter.name + "' is " + std::string(name_of(parameter.variable.dtype())) +
           " and '" + first.name + "' " + std::string(name_of(first.variable.dtype())) +
           ": parameters of a run are of one dtype");
  }
  return trained;
}

void check_options(const TrainerOptions& options, DType parameters) {
  if (!(options.clip >= 0) || !std::isfinite(options.clip)) {
    refuse("clip " + std::to_string(options.clip) + " must be a norm above 0, or 0 for no limit");
  }
  if (options.shards < 1) {
    refuse(std::to_string(options.shards) + " shards: a batch has at least one");
  }
  if (options.compute != DType::float32 && options.compute != DType::bfloat16) {
    refuse("compute " + std::string(name_of(options.compute)) +
           " must be float32 or bfloat16 (parameters in float64 are computed with in float64)");
  }
  if (options.compute == DType::bfloat16 && parameters == DType::float64) {
    refuse("compute bfloat16 has no meaning with parameters in float64");
  }
  rate_at(options.schedule, 1);
}

OptimizerOptions with_threads(OptimizerOptions options, int threads) {
  if (options.threads == 0) options.threads = threads;
  return options;
}

// Another for each step and shard, whatever came before.
std::uint64_t dropout_seed(std::uint64_t seed, std::int64_t step, std::int64_t shard) {
  const auto low = [](auto bits) { return static_cast<std::uint32_t>(bits); };
  const auto s = static_cast<std::uint64_t>(step), p = static_cast<std::uint64_t>(shard);
  const std::array<std::uint32_t, 4> words =
      philox4x32({low(s), low(s >> 32), low(p), low(p >> 32)}, {low(seed), low(seed >> 32)});
  return std::uint64_t{words[1]} << 32 | words[0];
}

double value_of(const Variable& share) {
  if (!share || share.size() != 1 || !is_floating(share.dtype())) {
    refuse("the loss of a shard must be one floating number, not " +
           (share ? to_string(share.shape()) + " " + std::string(name_of(share.dtype()))
                  : std::string("absent")));
  }
  return element_as_double(share.view(), 0);
}

}  // namespace

struct Trainer::Parts {
  MemoryReuse reuse;  ///< every step needs what the last one did
  TrainerOptions options;
  std::vector<NamedParameter> parameters;
  FlatGradients gradients;
  std::unique_ptr<Optimizer> optimizer;
  std::int64_t steps = 0;

  Parts(std::vector<NamedParameter> trained, const TrainerOptions& given)
      : options(given),
        parameters(std::move(trained)),
        gradients(parameters, given.shards),
        optimizer(make_optimizer(parameters, with_threads(given.optimizer, given.threads))) {}

  // Adds the shard's loss and gradients; false: the report says why not.
  bool add_shard(const ShardLoss& loss, std::int64_t shard, StepReport& report) {
    gradients.open(shard);
    const ForwardOptions how{.training = true,
                             .compute = options.compute,
                             .dropout_seed = dropout_seed(options.seed, steps + 1, shard),
                             .threads = options.threads};
    const Variable share = loss(shard, options.shards, how);
    report.loss += value_of(share);
    if (!std::isfinite(report.loss)) {
      report.trouble = trouble_of_loss(share, parameters);
      if (options.shards > 1) {
        report.trouble = "shard " + std::to_string(shard) + ": " + report.trouble;
      }
      return false;
    }
    backward(share);
    gradients.close(shard);
    return true;
  }

  void measure_before(StepReport& report) const {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      report.parameters.push_back({.name = parameters[i].name,
                                   .gradient_norm = norm(gradients.gradient(i)),
                                   .weight_norm = norm(parameters[i].variable.view()),
                                   .update_norm = 0});
    }
  }

  void change(StepReport& report) {
    // As PyTorch's clip_grad_norm_, the small number included.
    const double scale =
        options.clip > 0 ? std::min(1.0, options.clip / (report.gradient_norm + 1e-6)) : 1.0;
    std::vector<double> changes(options.measure_layers ? parameters.size() : 0);
    optimizer->step(report.rate, scale, changes);
    for (std::size_t i = 0; i < changes.size(); ++i) {
      report.parameters[i].update_norm = changes[i];
    }
    ++steps;
  }
};

Trainer::Trainer(Module& module, const TrainerOptions& options) {
  const ThreadScope scope(options.threads);
  std::vector<NamedParameter> trained = trained_parameters(module);
  check_options(options, trained.front().variable.dtype());
  parts_ = std::make_unique<Parts>(std::move(trained), options);
}

Trainer::~Trainer() = default;

StepReport Trainer::step(const ShardLoss& loss) {
  Parts& parts = *parts_;
  const ThreadScope scope(parts.options.threads);
  const ReuseScope reusing(parts.reuse);
  StepReport report;
  report.step = parts.steps + 1;
  report.rate = rate_at(parts.options.schedule, report.step);
  for (std::int64_t shard = 0; shard < parts.options.shards; ++shard) {
    report.stepped = parts.add_shard(loss, shard, report);
    if (!report.stepped) return report;
  }
  report.gradient_norm = parts.gradients.norm();
  if (parts.options.measure_layers) parts.measure_before(report);
  if (!std::isfinite(report.gradient_norm)) {
    report.stepped = false;
    report.trouble = trouble_of_gradients(
        parts.parameters, [&](std::size_t i) { return parts.gradients.gradient(i); });
    return report;
  }
  parts.change(report);
  return report;
}

const TrainerOptions& Trainer::options() const noexcept { return parts_->options; }
std::int64_t Trainer::steps_done() const noexcept { return parts_->steps; }

std::int64_t Trainer::state_bytes() const {
  return parts_->gradients.bytes() + parts_->optimizer->state_bytes();
}

}  // namespace volvelle
