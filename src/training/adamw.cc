#include <cstdint>
#include <string>
#include <utility>

#include "training/optimizers.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/optimizer_steps.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {
namespace {

// Loshchilov and Hutter 2019, arXiv:1711.05101.
class AdamW final : public Optimizer {
 public:
  AdamW(std::vector<NamedParameter> parameters, const OptimizerOptions& options)
      : options_(options) {
    for (NamedParameter& parameter : parameters) {
      const Variable& weight = parameter.variable;
      places_.push_back({.weight = weight,
                         .first = Tensor::zeros(weight.dtype(), weight.shape()),
                         .second = Tensor::zeros(weight.dtype(), weight.shape()),
                         .decay = decay_of(parameter, options.decay.value_or(0.01), options)});
    }
  }

  void step(double rate, double gradient_scale, std::span<double> changes) override {
    for (const Place& place : places_) check_changeable(place.weight);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const double change = step(places_[i], rate, gradient_scale);
      if (!changes.empty()) changes[i] = change;
    }
  }

  std::int64_t state_bytes() const override {
    std::size_t bytes = 0;
    for (const Place& place : places_) bytes += place.first.bytes() + place.second.bytes();
    return static_cast<std::int64_t>(bytes);
  }

 private:
  struct Place {
    Variable weight;
    Tensor first, second;  ///< moments
    double decay = 0;
    std::int64_t steps = 0;  ///< done, for the bias correction
  };

  double step(Place& place, double rate, double gradient_scale) const {
    const Tensor gradient = place.weight.grad();
    if (!gradient) return 0;
    return adamw_step(place.weight.change(), gradient.view(), place.first.mutable_view(),
                      place.second.mutable_view(),
                      {.rate = rate,
                       .beta1 = options_.beta1,
                       .beta2 = options_.beta2,
                       .epsilon = options_.epsilon,
                       .decay = place.decay,
                       .step = ++place.steps,
                       .gradient_scale = gradient_scale,
                       .threads = options_.threads});
  }

  OptimizerOptions options_;
  std::vector<Place> places_;
};

}  // namespace

std::unique_ptr<Optimizer> make_adamw(std::vector<NamedParameter> parameters,
                                      const OptimizerOptions& options) {
  if (options.momentum != 0) refuse_unread("adamw", "momentum");
  if (options.nesterov) refuse_unread("adamw", "nesterov");
  check_beta("beta1", options.beta1);
  check_beta("beta2", options.beta2);
  if (!(options.epsilon > 0)) {
    throw InvalidArgument("[optimizer] epsilon " + std::to_string(options.epsilon) +
                          " must be above 0");
  }
  return std::make_unique<AdamW>(std::move(parameters), options);
}

}  // namespace volvelle
