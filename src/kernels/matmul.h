#pragma once

#include <cstdint>

namespace volvelle::kernels {

/// Columns of a panel of the right operand, on every instruction set: so packed weights serve all.
inline constexpr int kPanelColumns = 32;
/// Rows of the right operand that are summed before the sum joins the output. A constant of
/// the arithmetic: no choice of threads or shapes changes it.
inline constexpr int kDepthBlock = 256;

/// Some rows of a left operand times one block of depth of some panels.
template <class T>
struct BasicMatmulStep {
  const T* left = nullptr;  ///< element (r, i) at left[r * row_stride + i * left_step]
  std::int64_t row_stride = 0, left_step = 1;
  const T* right = nullptr;  ///< panel p at right + p * right_panel: [depth][32], aligned
  std::int64_t right_panel = 0;
  int rows = 0, panels = 0;
  int depth = 0;     ///< 0..kDepthBlock
  T* out = nullptr;  ///< panel p at out + p * out_panel: [rows][32], aligned
  std::int64_t out_panel = 0;
  bool fresh = false;  ///< what `out` held is not read
};

using MatmulStep = BasicMatmulStep<float>;

/// The product kernels of one instruction set.
struct MatmulKernels {
  /// out[p][r][c] (+)= sum over i, in order, of left(r, i) * right[p][i][c].
  void (*step)(const MatmulStep& step);
  void (*step_double)(const BasicMatmulStep<double>& step);
};

/// Of the instruction set in use.
const MatmulKernels& matmul_kernels();

}  // namespace volvelle::kernels
