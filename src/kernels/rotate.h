#pragma once

#include <cstdint>

namespace volvelle::kernels {

/// How rows that turn are stored. The arithmetic is double for float64, float32 for the others,
/// rounded once on storing.
enum class RotatedType : std::uint8_t { float32, float64, float16, bfloat16 };

/// Rows whose pairs of numbers turn: (a, b) becomes (a c - b s, a s + b c), or with `back`, by the
/// transposed table, (a c + b s, b c - a s). Elements of a row lie next to each other, at any
/// alignment; a row may be turned in place, else rows must not overlap.
struct RotatedRows {
  const void* x = nullptr;
  void* y = nullptr;
  std::int64_t x_stride = 0, y_stride = 0;  ///< elements from row to row
  std::int64_t rows = 0;
  std::int64_t width = 0;         ///< of a row
  std::int64_t pairs = 0;         ///< that turn, in the first 2 * pairs columns; the rest is copied
  const void* cosines = nullptr;  ///< [pairs] for the first row, in the type of the arithmetic
  const void* sines = nullptr;
  std::int64_t cosine_stride = 0;  ///< elements from row to row; 0: all rows turn alike
  std::int64_t sine_stride = 0;
  bool interleaved = false;  ///< pairs (2i, 2i + 1); else (i, i + pairs)
  bool back = false;
};

/// One function for each RotatedType.
struct RotateKernels {
  void (*turn[4])(const RotatedRows& rows);
};

/// Of the instruction set in use.
const RotateKernels& rotate_kernels();

}  // namespace volvelle::kernels
