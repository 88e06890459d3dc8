#pragma once

#include "volvelle/nn/norm.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// What a norm does to a gradient that goes back through it.
struct NormJacobian {
  double spread =
      0;  ///< of a token's features: deviation (layer norm), root mean square (RMS norm)
  double passed = 0;  ///< norm of the gradient behind it over that before it, all tokens together
  /// Part of the gradient along the direction (1, 1, ..., 1), before and behind.
  double mean_before = 0, mean_behind = 0;
  /// Part of it along the token's own normalised vector.
  double along_before = 0, along_behind = 0;
};

/// A norm (weights one) put on stream + branch (..., C), met by the gradient that arrives there.
/// Layer norm: dx = (g - mean(g) - y mean(g y)) / spread; RMS norm lacks the mean.
NormJacobian norm_jacobian(NormKind kind, const Tensor& stream, const Tensor& branch,
                           const Tensor& gradient);

}  // namespace volvelle
