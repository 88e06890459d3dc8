#pragma once

#include <cstdint>
#include <optional>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/nn/forward.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/linear.h"
#include "volvelle/nn/module.h"
#include "volvelle/ops/activation.h"

namespace volvelle {

struct FeedForwardOptions {
  std::int64_t width = 64;          ///< C
  std::int64_t feed_forward = 256;  ///< F
  Activation activation = Activation::relu;
  bool gated = false;  ///< act(x gate^T) * (x linear1^T) in place of act(x linear1^T)
  bool biases = true;
  double dropout = 0;  ///< of what linear2 reads, in training
  DType dtype = DType::float32;
};

/// linear2(act(linear1(x))), or gated: SwiGLU with silu, GEGLU with gelu. Parameters: gate.weight
/// and gate.bias where gated, linear1.weight (F,C), linear1.bias, linear2.weight (C,F),
/// linear2.bias.
/// Source: Vaswani et al. 2017, arXiv:1706.03762; Shazeer 2020, arXiv:2002.05202.
class VOLVELLE_API FeedForward : public Module {
 public:
  /// Throws InvalidArgument for sizes below 1 and a dropout outside [0, 1).
  explicit FeedForward(const FeedForwardOptions& options);

  /// x (..., C) -> (..., C) in the parameters' dtype; a residual of that shape is added in the
  /// same pass.
  Variable forward(const Variable& x, const ForwardOptions& how = {},
                   const Variable& residual = {}) const;
  /// Draws gate, linear1, linear2.
  void initialize(Initializer& initializer);
  /// Multiplies the weights of linear1 and linear2 by a number: DeepNorm's beta.
  void scale_weights(double factor);

  const FeedForwardOptions& options() const noexcept { return options_; }

 private:
  Variable hidden(const Variable& x, const ForwardOptions& how) const;

  FeedForwardOptions options_;
  std::optional<Linear> gate_;
  Linear linear1_, linear2_;
};

}  // namespace volvelle
