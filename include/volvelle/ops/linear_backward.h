#pragma once

#include "volvelle/base/export.h"
#include "volvelle/ops/matmul.h"
#include "volvelle/ops/packed_weights.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// Gradient of y = x W^T + b with respect to x: grad_x (+)= grad_y W.
///
/// Shapes:  grad_y (..., N), weights (N,K), grad_x (..., K); the same leading axes. Dtypes,
/// strides,
///          bits and throws as `matmul`. Packed weights are read as they are (not gated ones:
///          a gated product has a gradient for each of its two factors).
VOLVELLE_API void linear_backward_input(const View& grad_y, const PackedWeights& weights,
                                        const MutableView& grad_x,
                                        const MatmulOptions& options = {});

/// The same from weights (N,K) that were not packed.
VOLVELLE_API void linear_backward_input(const View& grad_y, const View& weights,
                                        const MutableView& grad_x,
                                        const MatmulOptions& options = {});

/// With respect to W: grad_weights (+)= grad_y^T x, summed over all rows in order.
///
/// Shapes:  grad_y (..., N), x (..., K), grad_weights (N,K).
VOLVELLE_API void linear_backward_weights(const View& grad_y, const View& x,
                                          const MutableView& grad_weights,
                                          const MatmulOptions& options = {});

/// With respect to b: grad_bias (+)= the sum of grad_y over its rows, in order.
///
/// Shapes:  grad_y (..., N), grad_bias (N).
VOLVELLE_API void linear_backward_bias(const View& grad_y, const MutableView& grad_bias,
                                       const MatmulOptions& options = {});

}  // namespace volvelle
