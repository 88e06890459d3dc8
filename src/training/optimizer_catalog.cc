#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "training/optimizers.h"
#include "volvelle/base/error.h"
#include "volvelle/base/suggestion.h"
#include "volvelle/tensor/dtype.h"

namespace volvelle {
namespace {

constexpr std::array kOptimizers{
    OptimizerEntry{"adamw", "steps of even size by two moments, decay apart from the gradient",
                   make_adamw},
    OptimizerEntry{"sgd", "along the gradient, with momentum or without", make_sgd},
};

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("[optimizer] " + text); }

const OptimizerEntry& entry_named(const std::string& name) {
  std::vector<std::string> names;
  for (const OptimizerEntry& entry : kOptimizers) {
    if (name == entry.name) return entry;
    names.emplace_back(entry.name);
  }
  refuse("no optimizer is called '" + name + "'" + suggestion(name, names));
}

void check_parameters(const std::vector<NamedParameter>& parameters) {
  if (parameters.empty()) refuse("there are no parameters to change");
  for (const NamedParameter& parameter : parameters) {
    const DType dtype = parameter.variable.dtype();
    if (dtype == DType::float32 || dtype == DType::float64) continue;
    refuse("'" + parameter.name + "' is " + std::string(name_of(dtype)) +
           "; parameters are changed in float32 or float64, and products may still be in "
           "bfloat16 (compute)");
  }
}

}  // namespace

Optimizer::~Optimizer() = default;

void refuse_unread(const char* optimizer, const char* option) {
  refuse("'" + std::string(optimizer) + "' has no " + option + ", which would be ignored");
}

void check_changeable(const Variable& weight) {
  if (!weight.is_read_only() || !weight.grad()) return;
  refuse(
      "a weight " + to_string(weight.shape()) +
      " was made read-only after the optimizer took it (shared with another stack, or a view of a "
      "file); nothing was changed. Make the optimizer after that: it takes copies");
}

double decay_of(const NamedParameter& parameter, double decay, const OptimizerOptions& options) {
  return options.decay_all || parameter.variable.rank() >= 2 ? decay : 0;
}

void check_beta(const char* what, double value) {
  if (value >= 0 && value < 1) return;
  refuse(std::string(what) + " " + std::to_string(value) + " must be at least 0 and below 1");
}

std::span<const OptimizerEntry> optimizers() { return kOptimizers; }

std::unique_ptr<Optimizer> make_optimizer(std::vector<NamedParameter> parameters,
                                          const OptimizerOptions& options) {
  const OptimizerEntry& entry = entry_named(options.name);
  check_parameters(parameters);
  const double decay = options.decay.value_or(0);
  if (!(decay >= 0) || !std::isfinite(decay)) {
    refuse("decay " + std::to_string(decay) + " must be a number of at least 0");
  }
  std::unique_ptr<Optimizer> made = entry.make(parameters, options);
  // Nothing is refused from here on: parameters of whoever was refused stay as they were.
  for (NamedParameter& parameter : parameters) {
    Variable& variable = parameter.variable;
    if (variable.is_read_only()) variable.replace(copy_of(variable.view()));
  }
  return made;
}

}  // namespace volvelle
