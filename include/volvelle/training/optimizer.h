#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/nn/module.h"

namespace volvelle {

/// Numbers of all optimizers; each reads its own, and refuses those that it does not know where
/// they differ from their defaults.
struct OptimizerOptions {
  std::string name = "adamw";  ///< one of optimizers()
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double decay = 0.01;  ///< AdamW: decoupled; SGD: added to the gradient
  /// Which parameters decay; default: matrices (rank 2 and more) only. All: as PyTorch's default.
  bool decay_all = true;
  double momentum = 0;
  bool nesterov = false;
  int threads = 0;
};

/// Changes parameters by their gradients.
class VOLVELLE_API Optimizer {
 public:
  virtual ~Optimizer();
  /// One step at this rate; `gradient_scale` multiplies every gradient first. `changes` (empty, or
  /// one a parameter) receives the norm of each change.
  virtual void step(double rate, double gradient_scale, std::span<double> changes) = 0;
  virtual std::int64_t state_bytes() const = 0;
};

/// A line of the table of optimizers.
struct OptimizerEntry {
  const char* name;
  const char* sentence;
  std::unique_ptr<Optimizer> (*make)(std::vector<NamedParameter> parameters,
                                     const OptimizerOptions& options);
};
VOLVELLE_API std::span<const OptimizerEntry> optimizers();

/// Throws InvalidArgument for an unknown name (with a suggestion) and numbers out of range.
VOLVELLE_API std::unique_ptr<Optimizer> make_optimizer(std::vector<NamedParameter> parameters,
                                                       const OptimizerOptions& options);

}  // namespace volvelle
