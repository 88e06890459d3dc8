#include "volvelle/tensor/shape.h"

#include <algorithm>

#include "volvelle/base/error.h"

namespace volvelle {

Axes::Axes(std::initializer_list<std::int64_t> values) {
  for (const std::int64_t value : values) push_back(value);
}

Axes Axes::filled(int rank, std::int64_t value) {
  Axes axes;
  for (int axis = 0; axis < rank; ++axis) axes.push_back(value);
  return axes;
}

void Axes::push_back(std::int64_t value) {
  if (rank_ == kMaxRank) {
    throw InvalidArgument("[shape] more than " + std::to_string(kMaxRank) + " axes");
  }
  values_[static_cast<unsigned>(rank_++)] = value;
}

bool operator==(const Axes& a, const Axes& b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::int64_t element_count(const Shape& shape, const char* what) {
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) {
      throw InvalidArgument(std::string("[shape] ") + what + " has a negative axis in " +
                            to_string(shape));
    }
    empty = empty || size == 0;
  }
  if (empty) return 0;
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count)) {
      throw InvalidArgument(std::string("[shape] the element count of ") + what + " " +
                            to_string(shape) + " does not fit 63 bits");
    }
  }
  return count;
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides = Axes::filled(shape.rank(), 1);
  std::int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= std::max<std::int64_t>(shape[axis], 1);
  }
  return strides;
}

std::string to_string(const Axes& axes) {
  std::string text = "(";
  for (int axis = 0; axis < axes.rank(); ++axis) {
    if (axis > 0) text += ',';
    text += std::to_string(axes[axis]);
  }
  return text + (axes.rank() == 1 ? ",)" : ")");
}

}  // namespace volvelle
