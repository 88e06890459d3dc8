#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/nn/module.h"

namespace volvelle {

/// Numbers of all optimizers. Each reads its own and refuses those of others where they differ from
/// what stands here.
struct OptimizerOptions {
  std::string name = "adamw";                         ///< one of optimizers()
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< AdamW
  /// AdamW: decoupled, default 0.01. SGD: times the weight added to the gradient, default 0.
  std::optional<double> decay = {};
  /// Every parameter decays, as in PyTorch; false: those of rank 2 and more (no biases, no norms).
  bool decay_all = true;
  double momentum = 0;    ///< SGD
  bool nesterov = false;  ///< SGD
  int threads = 0;
};

/// Changes parameters by their gradients. A parameter without a gradient is left alone, and so is
/// its state.
class VOLVELLE_API Optimizer {
 public:
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One step at this rate; `gradient_scale` multiplies every gradient first. `changes` (empty, or
  /// one a parameter) receives the norm of each change.
  virtual void step(double rate, double gradient_scale, std::span<double> changes = {}) = 0;
  virtual std::int64_t state_bytes() const = 0;

 protected:
  Optimizer() = default;
};

/// A line of the table of optimizers.
struct OptimizerEntry {
  const char* name;
  const char* sentence;
  std::unique_ptr<Optimizer> (*make)(std::vector<NamedParameter> parameters,
                                     const OptimizerOptions& options);
};
VOLVELLE_API std::span<const OptimizerEntry> optimizers();

/// Parameters that are read-only (shared with another module, mapped from a file) are given copies
/// of their numbers first.
/// Throws:  InvalidArgument for an unknown name (with a suggestion), numbers out of range or of
///          another optimizer, no parameters, and parameters that are neither float32 nor float64.
VOLVELLE_API std::unique_ptr<Optimizer> make_optimizer(std::vector<NamedParameter> parameters,
                                                       const OptimizerOptions& options);

}  // namespace volvelle
