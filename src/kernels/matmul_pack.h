#pragma once

#include <cstdint>

namespace volvelle::kernels {

/// Panels of the right operand, [depth][32] (kernels/matmul.h), written and read. Columns beyond
/// `columns` become 0. `panel` is aligned to 64 bytes.
struct PackKernels {
  /// panel[i][c] = from[c * stride + i]: what is summed over lies next to each other.
  void (*from_columns)(const float* from, std::int64_t stride, int columns, int depth,
                       float* panel);
  /// The same of what lies next to each other along the columns, for columns that may fill several
  /// panels, `pitch` floats apart: panel[i][c] = from[i * stride + c].
  void (*from_rows)(const float* from, std::int64_t stride, int columns, int depth, float* panel,
                    std::int64_t pitch);
  /// to[c * to_stride + r] = from[r * stride + c] for r < rows, c < columns.
  void (*transpose)(const float* from, std::int64_t stride, int rows, int columns, float* to,
                    std::int64_t to_stride);
  /// The same of words, moved as they are.
  void (*transpose_words)(const std::uint32_t* from, std::int64_t stride, int rows, int columns,
                          std::uint32_t* to, std::int64_t to_stride);
  /// bfloat16 panels hold two rows in a word, as dot products read them: [ceil(depth / 2)][32],
  /// the lower half the first row. Where depth is odd the last row's partner is 0 when written and
  /// not read.
  void (*narrow_pairs)(const float* panel, int depth, std::uint32_t* to);
  /// Several panels at once, `from_pitch` words and `to_pitch` floats apart.
  void (*widen_pairs)(const std::uint32_t* from, std::int64_t from_pitch, int panels, int depth,
                      float* to, std::int64_t to_pitch);
  /// Pairs of numbers that are bfloat16 already: the same as from_rows of them and narrow_pairs.
  void (*pairs_from_rows)(const std::uint16_t* from, std::int64_t stride, int columns, int depth,
                          std::uint32_t* to, std::int64_t pitch);
};

/// Of the instruction set in use.
const PackKernels& pack_kernels();

}  // namespace volvelle::kernels
