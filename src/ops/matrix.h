#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "volvelle/tensor/view.h"

namespace volvelle {

/// Where the elements of a matrix lie; its lengths are known to who holds it. Strides in elements.
template <class Pointer>
struct BasicMatrix {
  Pointer data = nullptr;
  DType dtype = DType::float32;
  std::int64_t row = 0, column = 0;  ///< strides

  /// The same strides from element (i, j) on, `offset` elements further.
  BasicMatrix at(std::int64_t i, std::int64_t j, std::int64_t offset = 0) const {
    BasicMatrix moved = *this;
    const std::int64_t elements = i * row + j * column + offset;
    using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<Pointer>>,
                                    const std::byte, std::byte>;
    moved.data = static_cast<Byte*>(data) + elements * static_cast<std::int64_t>(size_of(dtype));
    return moved;
  }
};

using Matrix = BasicMatrix<const void*>;
using MutableMatrix = BasicMatrix<void*>;

inline Matrix transposed(const Matrix& matrix) {
  return {matrix.data, matrix.dtype, matrix.column, matrix.row};
}

/// Lines of `count` elements `stride` apart, from and to float32 that lies next to each other.
/// Narrowing rounds to nearest, ties to even.
void read_line(const void* from, DType dtype, std::int64_t stride, std::int64_t count, float* to);
void write_line(const float* from, std::int64_t count, void* to, DType dtype, std::int64_t stride);

}  // namespace volvelle
