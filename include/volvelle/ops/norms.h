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
/// the biased one. Statistics in float32 or better.
///
/// Shapes:  x (..., C), weight and bias (C) or absent.
/// Source:  Ba, Kiros and Hinton 2016, arXiv:1607.06450.
VOLVELLE_API Variable layer_norm(const Variable& x, const Variable& weight, const Variable& bias,
                                 const LayerNormOptions& options = {});

struct RmsNormOptions {
  double epsilon = 1e-6;            ///< inside the root
  double weight_offset = 0;         ///< 1: factors are 1 + weight
  std::optional<DType> dtype = {};  ///< of y; default: x's
  int threads = 0;
};

/// y = x / sqrt(mean of x^2 + epsilon) * (weight_offset + weight) over the last axis.
/// Source: Zhang and Sennrich 2019, arXiv:1910.07467.
VOLVELLE_API Variable rms_norm(const Variable& x, const Variable& weight,
                               const RmsNormOptions& options = {});

}  // namespace volvelle
