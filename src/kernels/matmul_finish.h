#pragma once

#include <cstdint>

namespace volvelle::kernels {

/// What becomes of a sum on its way out.
enum class Curve : std::uint8_t { identity, relu, gelu, gelu_tanh, silu };

/// Sums of one panel on their way to their rows: out = curve(sum + bias) + residual, or
/// curve(gate + gate_bias) * (sum + bias) + residual.
struct FinishStep {
  const float* sums = nullptr;  ///< [rows][32], aligned
  const float* gate = nullptr;  ///< the same; null: not gated
  const float* bias = nullptr;  ///< [32], aligned; null: none
  const float* gate_bias = nullptr;
  const float* residual = nullptr;  ///< any alignment; null: none. May be `out` itself
  std::int64_t residual_row = 0;
  /// Row r at out + r * out_row elements, next to each other: float, or bfloat16 rounded once.
  void* out = nullptr;
  std::int64_t out_row = 0;
  bool to_bfloat16 = false;
  void* before = nullptr;       ///< sum + bias, stored as `out` is; null: not kept
  void* gate_before = nullptr;  ///< gate + gate_bias
  int rows = 0;
  int columns = 0;  ///< 1..32: so many are read of the residual and written
  Curve curve = Curve::identity;
};

/// On the instruction set in use.
void matmul_finish(const FinishStep& step);

}  // namespace volvelle::kernels
