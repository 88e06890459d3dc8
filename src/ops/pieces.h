#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/chunks.h"
#include "ops/matrix.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// Elements that are worked on at a time, small enough for stacks and the nearest cache.
inline constexpr std::int64_t kPiece = 1024;
/// Calls body(first, count), count at most kPiece, for pieces of the elements of `like`, which is
/// contiguous, on at most `threads` threads.
template <class Body>
void for_pieces(const View& like, int threads, const Body& body) {
  for_each_chunk(element_count(like.shape()), threads, [&](std::int64_t first, std::int64_t count) {
    const std::int64_t end = first + count;
    for (; first < end; first += kPiece) body(first, std::min(kPiece, end - first));
  });
}

/// Pieces of a contiguous float32, bfloat16 or float16 array as float32: in place where it is that.
class PieceIn {
 public:
  explicit PieceIn(const View& view) : from_{view.data(), view.dtype(), 0, 1} {}

  const float* read(std::int64_t first, std::int64_t count) {
    const Matrix at = from_.at(0, first);
    if (from_.dtype == DType::float32) return static_cast<const float*>(at.data);
    read_line(at.data, at.dtype, 1, count, wide_);
    return wide_;
  }

 private:
  Matrix from_;
  alignas(64) float wide_[kPiece];
};

/// The same to be written: what was put at place(first) reaches the array by write(first, count).
class PieceOut {
 public:
  explicit PieceOut(const MutableView& view) : to_{view.data(), view.dtype(), 0, 1} {}

  float* place(std::int64_t first) {
    return to_.dtype == DType::float32 ? static_cast<float*>(to_.at(0, first).data) : wide_;
  }
  void write(std::int64_t first, std::int64_t count) const {
    if (to_.dtype != DType::float32) write_line(wide_, count, to_.at(0, first).data, to_.dtype, 1);
  }

 private:
  MutableMatrix to_;
  alignas(64) float wide_[kPiece];
};

}  // namespace volvelle
