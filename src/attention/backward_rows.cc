#include "attention/backward_rows.h"

#include <algorithm>

#include "attention/tile_source.h"
#include "kernels/attention_backward.h"
#include "tensor/convert.h"

namespace volvelle {
namespace {

template <class T>
bool loads_directly(DType dtype) {
  const bool half = dtype == DType::float16 || dtype == DType::bfloat16;
  return dtype == dtype_of<T> || (half && dtype_of<T> == DType::float32);
}

}  // namespace

template <class T>
void load_padded_rows(const Strided4& view, std::int64_t offset, std::int64_t rows,
                      std::int64_t columns, T* to, std::int64_t to_stride) {
  if (view.dtype == dtype_of<T> && (view.stride[3] == 1 || columns == 1)) {
    kernels::backward_kernels<T>().copy_rows(
        static_cast<const T*>(view.data) + offset, view.stride[2], static_cast<int>(rows),
        static_cast<int>(columns), T{1}, to, to_stride, static_cast<int>(to_stride));
    return;
  }
  if (loads_directly<T>(view.dtype) && to_stride == columns) {
    load_rows(view, offset, view.stride[2], view.stride[3], rows, columns, to);
    return;
  }
  if (loads_directly<T>(view.dtype)) {
    for (std::int64_t r = 0; r < rows; ++r) {
      load_rows(view, offset + r * view.stride[2], view.stride[2], view.stride[3], 1, columns,
                to + r * to_stride);
    }
  } else {
    visit_dtype(view.dtype, [&](auto zero) {
      using Element = decltype(zero);
      const Element* from = static_cast<const Element*>(view.data) + offset;
      for (std::int64_t r = 0; r < rows; ++r, from += view.stride[2]) {
        for (std::int64_t c = 0; c < columns; ++c) {
          const Element element = from[c * view.stride[3]];
          if constexpr (std::is_same_v<Element, Float16> || std::is_same_v<Element, BFloat16>) {
            to[r * to_stride + c] = static_cast<T>(to_float(element));
          } else {
            to[r * to_stride + c] = static_cast<T>(element);
          }
        }
      }
    });
  }
  for (std::int64_t r = 0; columns < to_stride && r < rows; ++r) {
    std::fill_n(to + r * to_stride + columns, to_stride - columns, T{0});
  }
}

template <class T>
void store_scaled_rows(const T* from, std::int64_t from_stride, std::int64_t rows,
                       std::int64_t columns, T factor, const Strided4& view, std::int64_t offset,
                       T* row) {
  const auto copy = kernels::backward_kernels<T>().copy_rows;
  const int width = static_cast<int>(columns);
  if (view.dtype == dtype_of<T> && view.stride[3] == 1) {
    T* to = static_cast<T*>(const_cast<void*>(view.data)) + offset;
    copy(from, from_stride, static_cast<int>(rows), width, factor, to, view.stride[2], width);
    return;
  }
  for (std::int64_t r = 0; r < rows; ++r, from += from_stride, offset += view.stride[2]) {
    copy(from, 0, 1, width, factor, row, 0, width);
    store_rows(row, 1, columns, view, offset, view.stride[2], view.stride[3]);
  }
}

void store_number(const Strided4& view, std::int64_t offset, double value) {
  visit_dtype(view.dtype, [&](auto zero) {
    using Element = decltype(zero);
    Element* place = static_cast<Element*>(const_cast<void*>(view.data)) + offset;
    if constexpr (std::is_same_v<Element, Float16>) {
      *place = to_float16(value);
    } else if constexpr (std::is_same_v<Element, BFloat16>) {
      *place = to_bfloat16(value);
    } else {
      *place = static_cast<Element>(value);
    }
  });
}

void store_number(const Strided2& view, std::int64_t a, std::int64_t b, double value) {
  Strided4 place;
  place.data = view.data;
  place.dtype = view.dtype;
  store_number(place, a * view.stride[0] + b * view.stride[1], value);
}

template void load_padded_rows(const Strided4&, std::int64_t, std::int64_t, std::int64_t, float*,
                               std::int64_t);
template void load_padded_rows(const Strided4&, std::int64_t, std::int64_t, std::int64_t, double*,
                               std::int64_t);
template void store_scaled_rows(const float*, std::int64_t, std::int64_t, std::int64_t, float,
                                const Strided4&, std::int64_t, float*);
template void store_scaled_rows(const double*, std::int64_t, std::int64_t, std::int64_t, double,
                                const Strided4&, std::int64_t, double*);

}  // namespace volvelle
