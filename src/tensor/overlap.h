#pragma once

#include <cstdint>

#include "volvelle/tensor/view.h"

namespace volvelle {

/// From the first byte that a view touches to one past the last; empty when it has no elements
/// or is absent. check_memory() must have passed, so that nothing overflows.
struct ByteRange {
  std::uintptr_t first = 0;
  std::uintptr_t past = 0;

  bool meets(const ByteRange& other) const {
    return first < other.past && other.first < past;  // never for empty ranges
  }
};

template <class Pointer>
ByteRange byte_range(const detail::BasicView<Pointer>& view) {
  if (!view) return {};
  std::int64_t below = 0;
  std::int64_t above = 1;
  for (int axis = 0; axis < view.rank(); ++axis) {
    const std::int64_t last = view.shape()[axis] - 1;
    if (last < 0) return {};
    const std::int64_t reach = last == 0 ? 0 : view.strides()[axis] * last;
    (reach < 0 ? below : above) += reach;
  }
  const auto start = reinterpret_cast<std::uintptr_t>(view.data());
  const auto size = static_cast<std::int64_t>(size_of(view.dtype()));
  return {start + static_cast<std::uintptr_t>(below * size),
          start + static_cast<std::uintptr_t>(above * size)};
}

/// Whether no byte belongs to both of two views whose ranges meet (slices of one buffer, say),
/// shown by where their runs of bytes fall between the larger strides. False also where that does
/// not show it.
bool provably_disjoint(const View& a, const View& b);

/// Whether no two elements of the view share a byte; false also where axes interleave so that
/// sorting them by stride does not show it.
bool provably_injective(const View& view);

}  // namespace volvelle
