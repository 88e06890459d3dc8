#pragma once

#include <optional>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/tensor/dtype.h"

namespace volvelle {

struct LayerNormOptions {
  double epsilon = 1e-5;            ///< inside the root
  std::optional<DType> dtype = {};  ///< of y; default: x's
  int threads = 0;
};

/// y = (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axis; the variance is
/// the biased one. Arithmetic is float32 (float64 for float64), rounded once where y is bfloat16; a
/// small spread around a large mean keeps its digits. A row with NaN or infinity becomes NaN, no
/// other does. Gradients of weight and bias are summed over rows in one order for any number of
/// threads.
///
/// Shapes:  x (..., C), weight and bias (C) or absent. float32, bfloat16 or float64.
/// Throws:  InvalidArgument (shapes, dtypes, options).
/// Source:  Ba, Kiros and Hinton 2016, arXiv:1607.06450.
VOLVELLE_API Variable layer_norm(const Variable& x, const Variable& weight, const Variable& bias,
                                 const LayerNormOptions& options = {});

struct RmsNormOptions {
  double epsilon = 1e-6;            ///< inside the root
  double weight_offset = 0;         ///< 1: factors are 1 + weight, added in float32
  std::optional<DType> dtype = {};  ///< of y; default: x's
  int threads = 0;
};

/// y = x / sqrt(mean of x^2 + epsilon) * (weight_offset + weight) over the last axis. Arithmetic as
/// in layer_norm: nothing is rounded to bfloat16 but y itself. In a row with an infinity that
/// element becomes NaN and finite ones 0.
///
/// Shapes:  x (..., C), weight (C), or absent without an offset.
/// Throws:  InvalidArgument (shapes, dtypes, options).
/// Source: Zhang and Sennrich 2019, arXiv:1910.07467.
VOLVELLE_API Variable rms_norm(const Variable& x, const Variable& weight,
                               const RmsNormOptions& options = {});

}  // namespace volvelle
