#pragma once

#include <cstdint>

namespace volvelle::kernels {

/// Panels of the right operand, [depth][32] (kernels/matmul.h), written and read. Columns beyond
/// `columns` become 0. `panel` is aligned to 64 bytes.
struct PackKernels {
  /// panel[i][c] = from[c * stride + i]: what is summed over lies next to each other.
  void (*from_columns)(const float* from, std::int64_t stride, int columns, int depth,
                       float* panel);
  /// panel[i][c] = from[i * stride + c].
  void (*from_rows)(const float* from, std::int64_t stride, int columns, int depth, float* panel);
  /// to[c * stride + i] = panel[i][c] for c < columns.
  void (*to_columns)(const float* panel, int columns, int depth, float* to, std::int64_t stride);
  /// bfloat16 panels hold two rows in a word, as dot products read them: [ceil(depth / 2)][32],
  /// the lower half the first row. Where depth is odd the last row's partner is 0 when written and
  /// not read.
  void (*narrow_pairs)(const float* panel, int depth, std::uint32_t* to);
  void (*widen_pairs)(const std::uint32_t* from, int depth, float* panel);
};

/// Of the instruction set in use.
const PackKernels& pack_kernels();

}  // namespace volvelle::kernels
