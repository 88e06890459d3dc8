#pragma once

#include <cstdint>

#include "volvelle/tensor/view.h"

namespace volvelle {

/// Elements [first, first + count) along one axis, over the same memory; an absent view stays so.
inline View slice(const View& view, int axis, std::int64_t first, std::int64_t count) {
  if (!view) return view;
  Shape shape = view.shape();
  shape[axis] = count;
  const auto bytes = static_cast<std::int64_t>(size_of(view.dtype()));
  return View(static_cast<const char*>(view.data()) + first * view.strides()[axis] * bytes,
              view.dtype(), shape, view.strides());
}

}  // namespace volvelle
