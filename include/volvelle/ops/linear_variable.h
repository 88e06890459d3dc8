#pragma once

#include <optional>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/ops/activation.h"
#include "volvelle/tensor/dtype.h"

namespace volvelle {

struct LinearVariableOptions {
  Activation activation = Activation::none;
  Variable residual = {};           ///< shape of y; added last
  std::optional<DType> dtype = {};  ///< of y; default: x's (float32, bfloat16, float64)
  /// What the products multiply: float32 weights with bfloat16 here are rounded once and packed; x
  /// is rounded as it is read. Default: the weights' dtype.
  std::optional<DType> compute = {};
  int threads = 0;
};

/// y = act(x W^T + b) + residual on the tape. Packed weights are kept with the weight until it
/// changes.
///
/// Shapes:  x (..., K), weight (N,K), bias (N) or absent, y (..., N).
/// Numbers: float32 and bfloat16 with float32 sums, float64 with float64 sums. Gradients of
///          weight and bias are in their dtype.
/// Throws:  as `linear`.
VOLVELLE_API Variable linear(const Variable& x, const Variable& weight, const Variable& bias = {},
                             const LinearVariableOptions& options = {});

struct GatedLinearOptions {
  Activation activation = Activation::silu;  ///< silu: SwiGLU; gelu: GEGLU
  std::optional<DType> dtype = {};
  std::optional<DType> compute = {};
  int threads = 0;
};

/// y = act(x gate^T + gate_bias) * (x up^T + up_bias) (Shazeer 2020, arXiv:2002.05202).
VOLVELLE_API Variable gated_linear(const Variable& x, const Variable& gate, const Variable& up,
                                   const Variable& gate_bias = {}, const Variable& up_bias = {},
                                   const GatedLinearOptions& options = {});

}  // namespace volvelle
