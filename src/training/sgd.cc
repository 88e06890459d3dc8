#include <cstdint>
#include <utility>

#include "training/optimizers.h"
#include "volvelle/base/error.h"
#include "volvelle/ops/optimizer_steps.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {
namespace {

// As PyTorch's: the velocity is a sum of gradients and starts as the first of them.
class Sgd final : public Optimizer {
 public:
  Sgd(std::vector<NamedParameter> parameters, const OptimizerOptions& options) : options_(options) {
    for (NamedParameter& parameter : parameters) {
      const Variable& weight = parameter.variable;
      Place place{.weight = weight,
                  .velocity = {},
                  .decay = decay_of(parameter, options.decay.value_or(0), options)};
      if (options.momentum != 0) place.velocity = Tensor::zeros(weight.dtype(), weight.shape());
      places_.push_back(std::move(place));
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
    for (const Place& place : places_) {
      if (place.velocity) bytes += place.velocity.bytes();
    }
    return static_cast<std::int64_t>(bytes);
  }

 private:
  struct Place {
    Variable weight;
    Tensor velocity;  ///< absent without momentum
    double decay = 0;
    bool first = true;
  };

  double step(Place& place, double rate, double gradient_scale) const {
    const Tensor gradient = place.weight.grad();
    if (!gradient) return 0;
    return sgd_step(place.weight.change(), gradient.view(), place.velocity.mutable_view(),
                    {.rate = rate,
                     .momentum = options_.momentum,
                     .decay = place.decay,
                     .nesterov = options_.nesterov,
                     .first = std::exchange(place.first, false),
                     .gradient_scale = gradient_scale,
                     .threads = options_.threads});
  }

  OptimizerOptions options_;
  std::vector<Place> places_;
};

}  // namespace

std::unique_ptr<Optimizer> make_sgd(std::vector<NamedParameter> parameters,
                                    const OptimizerOptions& options) {
  const OptimizerOptions defaults;
  if (options.beta1 != defaults.beta1) refuse_unread("sgd", "beta1");
  if (options.beta2 != defaults.beta2) refuse_unread("sgd", "beta2");
  if (options.epsilon != defaults.epsilon) refuse_unread("sgd", "epsilon");
  check_beta("momentum", options.momentum);
  if (options.nesterov && options.momentum == 0) {
    throw InvalidArgument("[optimizer] nesterov looks ahead along the momentum, which is 0");
  }
  return std::make_unique<Sgd>(std::move(parameters), options);
}

}  // namespace volvelle
