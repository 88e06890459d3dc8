#include "cli/view_axes.h"

#include <memory>

namespace volvelle::cli {

std::int64_t tokens_of(const View& view) {
  return view.rank() >= 2 ? view.shape()[view.rank() - 2] : 0;
}

std::int64_t batch_of(const View& q) { return q.rank() == 4 ? q.shape()[0] : 1; }

View picked(const View& view, int axis, std::int64_t index) {
  Shape shape;
  Strides strides;
  for (int i = 0; i < view.rank(); ++i) {
    if (i == axis) continue;
    shape.push_back(view.shape()[i]);
    strides.push_back(view.strides()[i]);
  }
  const auto offset =
      index * view.strides()[axis] * static_cast<std::int64_t>(size_of(view.dtype()));
  return View(static_cast<const char*>(view.data()) + offset, view.dtype(), shape, strides);
}

View with_rank(const View& view, int rank) {
  Shape shape;
  Strides strides;
  for (int i = view.rank(); i < rank; ++i) {
    shape.push_back(1);
    strides.push_back(0);
  }
  for (int i = 0; i < view.rank(); ++i) {
    shape.push_back(view.shape()[i]);
    strides.push_back(view.strides()[i]);
  }
  return View(view.data(), view.dtype(), shape, strides);
}

View without_leading(const View& view, int rank) {
  View result = view;
  while (result.rank() > rank) result = picked(result, 0, 0);
  return result;
}

Tensor reshaped(const Tensor& array, const Shape& shape) {
  auto owner = std::make_shared<Tensor>(array);
  void* data = owner->raw();
  return Tensor::adopt(std::move(owner), data, array.dtype(), shape);
}

View repeated_rows(const View& view, std::int64_t rows) {
  return View(view.data(), view.dtype(), Shape{rows, view.shape()[0]},
              Strides{0, view.strides()[0]});
}

}  // namespace volvelle::cli
