#include "support/arrays.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "tensor/convert.h"

namespace volvelle::testing {
namespace {

// Memory of `count` elements that are all NaN (integers: an unlikely number).
Tensor littered(DType dtype, std::int64_t count) {
  const double litter = is_floating(dtype) ? std::numeric_limits<double>::quiet_NaN() : 77;
  return filled(dtype, {count}, [&] { return litter; });
}

}  // namespace

void set_element(void* data, DType dtype, std::int64_t offset, double value) {
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    T& place = static_cast<T*>(data)[offset];
    if constexpr (std::is_same_v<T, Float16>) {
      place = to_float16(value);
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      place = to_bfloat16(value);
    } else {
      place = static_cast<T>(value);
    }
  });
}

Tensor filled(DType dtype, const Shape& shape, const std::function<double()>& value) {
  Tensor tensor(dtype, shape);
  for (std::int64_t i = 0; i < tensor.size(); ++i) set_element(tensor.raw(), dtype, i, value());
  return tensor;
}

Tensor listed(DType dtype, const Shape& shape, const std::vector<double>& values) {
  std::size_t next = 0;
  return filled(dtype, shape, [&] { return values.at(next++); });
}

LaidOut laid_out(const Tensor& from, Layout layout) {
  const int rank = from.rank();
  Shape memory = from.shape();  // lengths of the buffer's axes, outermost first
  Axes order;                   // which axis of the array each of them is; -1: none
  for (int axis = 0; axis < rank; ++axis) order.push_back(axis);
  Axes step = Axes::filled(rank, 1);
  if (rank >= 3 && (layout == Layout::bthd || layout == Layout::fused)) {
    std::swap(order[rank - 3], order[rank - 2]);
    std::swap(memory[rank - 3], memory[rank - 2]);
  }
  if (layout == Layout::fused && rank >= 2) {  // a 3 between the tokens and what they hold
    Shape wider;
    Axes with_three;
    const int tokens = rank >= 3 ? rank - 3 : 0;
    for (int axis = 0; axis < rank; ++axis) {
      wider.push_back(memory[axis]);
      with_three.push_back(order[axis]);
      if (axis == tokens) {
        wider.push_back(3);
        with_three.push_back(-1);
      }
    }
    memory = wider;
    order = with_three;
  }
  if (layout == Layout::gapped) {
    for (int axis = 0; axis < rank; ++axis) {
      memory[axis] *= 2;
      step[axis] = 2;
    }
  }
  const Strides dense = contiguous_strides(memory);
  Strides strides = Axes::filled(rank, 0);
  std::int64_t first = 0;
  for (int axis = 0; axis < memory.rank(); ++axis) {
    const std::int64_t own = order[axis];
    if (own < 0) {
      first += dense[axis];  // the middle slice of the three
      continue;
    }
    const int at = static_cast<int>(own);
    strides[at] = dense[axis] * step[at];
    if (layout == Layout::reversed && at >= rank - 2 && from.shape()[at] > 0) {
      first += strides[at] * (from.shape()[at] - 1);
      strides[at] = -strides[at];
    }
  }
  LaidOut result;
  result.memory = littered(from.dtype(), element_count(memory));
  char* start = static_cast<char*>(result.memory.raw()) +
                first * static_cast<std::int64_t>(size_of(from.dtype()));
  result.writable = MutableView(start, from.dtype(), from.shape(), strides);
  result.view = result.writable;
  copy_elements(from.view(), result.writable);
  return result;
}

std::vector<double> values_of(const View& view) {
  if (!view) return {};
  const Tensor copy = copy_of(view);
  std::vector<double> values(static_cast<std::size_t>(copy.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = element_as_double(copy.view(), static_cast<std::int64_t>(i));
  }
  return values;
}

}  // namespace volvelle::testing
