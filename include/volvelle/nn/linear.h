#pragma once

#include <cstdint>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/nn/forward.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/module.h"
#include "volvelle/ops/linear_variable.h"

namespace volvelle {

enum class Bias : std::uint8_t { with, without };

/// y = x W^T + b, with what follows in the same pass. Parameters: weight (N,K), bias (N), zeros
/// until they are drawn. PyTorch's torch.nn.Linear.
class VOLVELLE_API Linear : public Module {
 public:
  /// Throws InvalidArgument unless both sizes are positive.
  Linear(std::int64_t inputs, std::int64_t outputs, Bias bias = Bias::with,
         DType dtype = DType::float32);

  /// x (..., K) -> (..., N). `finish` has the activation, what is added, and the dtype of the
  /// result; `how` decides its `compute` and `threads`.
  Variable forward(const Variable& x, const ForwardOptions& how = {},
                   LinearVariableOptions finish = {}) const;
  void initialize(Initializer& initializer);
  /// The same for one that ends a branch.
  void initialize_branch_end(Initializer& initializer);

  const Variable& weight() const noexcept { return weight_; }
  const Variable& bias() const noexcept { return bias_; }

 private:
  Variable weight_, bias_;
};

}  // namespace volvelle
