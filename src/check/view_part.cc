#include "check/view_part.h"
#include "tensor/slice.h"

namespace volvelle {

View part_of(const View& view, const Span& batch, const Span& head, const Span& rows) {
  if (!view) return view;
  const Span spans[3] = {batch, head, rows};
  std::int64_t offset = 0;
  Axes shape, strides;
  for (int axis = 0; axis < 4; ++axis) {
    const int own = axis - (4 - view.rank());
    const bool broadcast = own < 0 || view.shape()[own] == 1;
    if (axis < 3) {
      if (!broadcast) offset += spans[axis].first * view.strides()[own];
      shape.push_back(broadcast ? 1 : spans[axis].count);
    } else {
      shape.push_back(own < 0 ? 1 : view.shape()[own]);
    }
    strides.push_back(broadcast ? 0 : view.strides()[own]);
  }
  const auto bytes = offset * static_cast<std::int64_t>(size_of(view.dtype()));
  return View(static_cast<const char*>(view.data()) + bytes, view.dtype(), shape, strides);
}

View cut(const View& view, int axis, const Span& span) {
  if (!view || view.shape()[axis] == 1) return view;
  return slice(view, axis, span.first, span.count);
}

}  // namespace volvelle
