#pragma once

#include "volvelle/base/export.h"
#include "volvelle/ops/activation.h"
#include "volvelle/ops/packed_weights.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// What happens to X W^T on its way into y. Inputs may have any strides, 0 included.
struct LinearOptions {
  View bias = {};       ///< (N)
  View gate_bias = {};  ///< (N), with gated weights only
  Activation activation = Activation::none;
  View residual = {};  ///< shape of y, or broadcast to it from the right; added last
  /// Where X W^T + bias, and with gated weights X gate^T + gate_bias, are kept for the way back:
  /// dtype, shape and strides of y.
  MutableView before_activation = {}, gate_before_activation = {};
  int threads = 0;  ///< at most this many; 0: the process's setting (set_threads)
};

/// y = act(x W^T + bias) + residual; with gated weights
/// y = act(x gate^T + gate_bias) * (x up^T + bias) + residual (Shazeer 2020, arXiv:2002.05202).
///
/// Shapes:  x (..., K), weights (N,K), y (..., N); any leading axes, the same in x and y; any
///          length may be 0.
/// Numbers: everything is float64, with float64 sums, or x, y, bias and residual are float32,
///          bfloat16 or float16, each for itself; sums are float32; what is stored in half
///          precision is rounded once, at the end. bfloat16 x times bfloat16 weights uses the CPU's
///          matrix unit or dot product where the instruction set in use has one (exact products,
///          summed in pairs; subnormal numbers count as 0); every other pair of dtypes is widened.
/// Bits:    a row of y depends on that row of x alone: not on how many rows there are, nor on
///          the thread count. Sums run over K in a fixed order.
/// Strides: all are honoured. y may be the residual itself (same pointer, shape and strides);
///          otherwise it may not overlap an input.
/// Throws:  InvalidArgument (shapes, dtypes, overlap), IoError (memory that cannot be had). Nothing
///          is written after a throw that checks caused.
VOLVELLE_API void linear(const View& x, const PackedWeights& weights, const MutableView& y,
                         const LinearOptions& options = {});

}  // namespace volvelle
