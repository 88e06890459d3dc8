#include "tensor/convert.h"

#include <cstring>
#include <type_traits>

#include "volvelle/base/error.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {
namespace {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// Half types widen to float, everything else stands for itself.
template <class T>
auto widened(T value) {
  if constexpr (is_half<T>) {
    return to_float(value);
  } else {
    return value;
  }
}

template <class To, class From>
To convert(From value) {
  const auto wide = widened(value);
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    return wide != 0;
  } else if constexpr (is_half<To>) {
    using Real = std::conditional_t<std::is_same_v<decltype(wide), const float>, float, double>;
    const Real real = static_cast<Real>(wide);
    if constexpr (std::is_same_v<To, Float16>) {
      return to_float16(real);
    } else {
      return to_bfloat16(real);
    }
  } else {
    return static_cast<To>(wide);
  }
}

// Walks all axes but the last by an odometer and hands each innermost row to `row`.
template <class Row>
void for_each_row(const Shape& shape, const Strides& from, const Strides& to, Row&& row) {
  const int outer = shape.rank() - 1;
  Axes index = Axes::filled(outer > 0 ? outer : 0, 0);
  std::int64_t from_offset = 0;
  std::int64_t to_offset = 0;
  while (true) {
    row(from_offset, to_offset);
    int axis = outer - 1;
    for (; axis >= 0; --axis) {
      from_offset += from[axis];
      to_offset += to[axis];
      if (++index[axis] < shape[axis]) break;
      from_offset -= from[axis] * shape[axis];
      to_offset -= to[axis] * shape[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace

void copy_elements(const View& from, const MutableView& to) {
  if (from.shape() != to.shape()) {
    throw InternalError("[tensor] copy between " + to_string(from.shape()) + " and " +
                        to_string(to.shape()) + "; please report this");
  }
  if (element_count(from.shape()) == 0) return;
  const int rank = from.rank();
  const std::int64_t count = rank == 0 ? 1 : from.shape()[rank - 1];
  const std::int64_t from_step = rank == 0 ? 1 : from.strides()[rank - 1];
  const std::int64_t to_step = rank == 0 ? 1 : to.strides()[rank - 1];
  visit_dtype(from.dtype(), [&](auto from_zero) {
    using From = decltype(from_zero);
    visit_dtype(to.dtype(), [&](auto to_zero) {
      using To = decltype(to_zero);
      const From* source = static_cast<const From*>(from.data());
      To* target = static_cast<To*>(to.data());
      for_each_row(from.shape(), from.strides(), to.strides(),
                   [&](std::int64_t from_offset, std::int64_t to_offset) {
                     const From* in = source + from_offset;
                     To* out = target + to_offset;
                     if constexpr (std::is_same_v<From, To>) {
                       if (from_step == 1 && to_step == 1) {
                         std::memcpy(out, in, static_cast<std::size_t>(count) * sizeof(To));
                         return;
                       }
                     }
                     if (from_step == 1 && to_step == 1) {  // a loop that vectorises
                       for (std::int64_t i = 0; i < count; ++i) out[i] = convert<To>(in[i]);
                       return;
                     }
                     for (std::int64_t i = 0; i < count; ++i) {
                       out[i * to_step] = convert<To>(in[i * from_step]);
                     }
                   });
    });
  });
}

double element_as_double(const View& view, std::int64_t offset) {
  return visit_dtype(view.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return static_cast<double>(widened(static_cast<const T*>(view.data())[offset]));
  });
}

}  // namespace volvelle
