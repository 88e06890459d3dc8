#pragma once

#include "volvelle/tensor/view.h"

namespace volvelle {

/// Stride of an axis; 0 where its length is 1.
inline std::int64_t stride_of(const View& view, int axis) {
  return view.shape()[axis] == 1 ? 0 : view.strides()[axis];
}

/// Stride of `view` along axis `axis` of an array of `rank` axes to which it is broadcast from
/// the right; 0 for an absent view and for axes that it does not have.
inline std::int64_t broadcast_stride(const View& view, int axis, int rank) {
  const int own = axis - (rank - view.rank());
  return !view || own < 0 ? 0 : stride_of(view, own);
}

}  // namespace volvelle
