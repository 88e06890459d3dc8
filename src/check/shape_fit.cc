#include "check/shape_fit.h"

namespace volvelle {

View on_axes_of(const View& ours, const View& theirs) {
  Axes shape, strides;
  int next = 0;
  for (int axis = 0; axis < ours.rank(); ++axis) {
    const std::int64_t size = ours.shape()[axis];
    shape.push_back(size);
    if (size == 1) {
      strides.push_back(0);
      continue;
    }
    while (next < theirs.rank() && theirs.shape()[next] == 1) ++next;
    if (next == theirs.rank() || theirs.shape()[next] != size) return View();
    strides.push_back(theirs.strides()[next++]);
  }
  while (next < theirs.rank() && theirs.shape()[next] == 1) ++next;
  return next == theirs.rank() ? View(theirs.data(), theirs.dtype(), shape, strides) : View();
}

}  // namespace volvelle
