#pragma once

#include <cstdint>

#include "kernels/matmul_finish.h"
#include "ops/joint_axes.h"
#include "ops/matrix.h"
#include "ops/panel_source.h"

namespace volvelle {

/// Arrays that move from one product of a batch to the next.
enum ProductArray : int { kLeft, kRight, kResidual, kOut, kProductArrays };
using ProductAxes = JointAxes<kProductArrays>;

/// out = curve(left right + bias) + residual for every place of a batch; with gated panels (those
/// of columns p are 2 p, the gate, and 2 p + 1) out = curve(gate + gate_bias) * (sum + bias) + ...
/// Everything is checked already; all arrays are float64 or none is.
struct Product {
  std::int64_t rows = 0, columns = 0, depth = 0;
  Matrix left;                         ///< rows x depth
  const PanelSource* right = nullptr;  ///< depth x columns
  bool gated = false;
  Matrix bias, gate_bias;  ///< one row; data null: none
  kernels::Curve curve = kernels::Curve::identity;
  Matrix residual;  ///< rows x columns; data null: none
  MutableMatrix out;
  void* before = nullptr;       ///< sum + bias, in out's dtype and strides; null: not kept
  void* gate_before = nullptr;  ///< gate + gate_bias
  ProductAxes batch;
};

/// Computes it on at most `threads` threads. The bits of a row depend on its row of `left`, on
/// `right` and what is added to it.
void compute(const Product& product, int threads);

}  // namespace volvelle
