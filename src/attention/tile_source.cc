#include "attention/tile_source.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/attention_forward.h"
#include "kernels/convert.h"
#include "tensor/convert.h"

namespace volvelle {
namespace {

// Rows of a head lie as far apart as tokens do, where the hardware does not look ahead.
constexpr std::int64_t kRowsAhead = 8;

// Strided halves are gathered in runs of this many before the vector conversion.
constexpr std::int64_t kRun = 256;

bool is_half(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

bool unbroken_rows(const Strided4& view, std::int64_t width) {
  return view.stride[3] == 1 || width == 1;
}

template <class T>
bool rows_in_place(const Strided4& view, std::int64_t width) {
  return view.dtype == dtype_of<T> && unbroken_rows(view, width);
}

}  // namespace

template <class T>
void load_rows(const Strided4& view, std::int64_t offset, std::int64_t row_stride,
               std::int64_t column_stride, std::int64_t rows, std::int64_t columns, T* to) {
  if (!is_half(view.dtype)) {
    const T* from = static_cast<const T*>(view.data) + offset;
    for (std::int64_t r = 0; r < rows; ++r, from += row_stride, to += columns) {
      if (column_stride == 1) {
        std::memcpy(to, from, static_cast<std::size_t>(columns) * sizeof(T));
      } else {
        for (std::int64_t c = 0; c < columns; ++c) to[c] = from[c * column_stride];
      }
    }
    return;
  }
  if constexpr (std::is_same_v<T, float>) {
    const kernels::ConvertKernels& kernels = kernels::convert_kernels();
    const auto widen =
        view.dtype == DType::float16 ? kernels.widen_float16 : kernels.widen_bfloat16;
    const std::uint16_t* from = static_cast<const std::uint16_t*>(view.data) + offset;
    std::uint16_t run[kRun];
    for (std::int64_t r = 0; r < rows; ++r, from += row_stride, to += columns) {
      if (r + kRowsAhead < rows) __builtin_prefetch(from + kRowsAhead * row_stride);
      if (column_stride == 1) {
        widen(from, columns, to);
        continue;
      }
      for (std::int64_t start = 0; start < columns; start += kRun) {
        const std::int64_t count = std::min(kRun, columns - start);
        for (std::int64_t c = 0; c < count; ++c) run[c] = from[(start + c) * column_stride];
        widen(run, count, to + start);
      }
    }
  }
}

template <class T>
void store_rows(const T* from, std::int64_t rows, std::int64_t columns, const Strided4& view,
                std::int64_t offset, std::int64_t row_stride, std::int64_t column_stride) {
  if (!is_half(view.dtype)) {
    T* to = static_cast<T*>(const_cast<void*>(view.data)) + offset;
    for (std::int64_t r = 0; r < rows; ++r, from += columns, to += row_stride) {
      for (std::int64_t c = 0; c < columns; ++c) to[c * column_stride] = from[c];
    }
    return;
  }
  if constexpr (std::is_same_v<T, float>) {
    const kernels::ConvertKernels& kernels = kernels::convert_kernels();
    const auto narrow =
        view.dtype == DType::float16 ? kernels.narrow_float16 : kernels.narrow_bfloat16;
    std::uint16_t* to = static_cast<std::uint16_t*>(const_cast<void*>(view.data)) + offset;
    std::uint16_t run[kRun];
    for (std::int64_t r = 0; r < rows; ++r, from += columns, to += row_stride) {
      if (r + kRowsAhead < rows) __builtin_prefetch(to + kRowsAhead * row_stride, 1);
      if (column_stride == 1) {
        narrow(from, columns, to);
        continue;
      }
      for (std::int64_t start = 0; start < columns; start += kRun) {
        const std::int64_t count = std::min(kRun, columns - start);
        narrow(from + start, count, run);
        for (std::int64_t c = 0; c < count; ++c) to[(start + c) * column_stride] = run[c];
      }
    }
  }
}

template <class T>
void load_turned_rows(const RowTurns& turns, const ResolvedAttention& problem,
                      const TokenRows& tokens, const void* from, DType stored,
                      std::int64_t row_stride, T* tile) {
  const std::int64_t width = problem.width;
  RowPlaces places;
  places.dtype = stored;
  places.from = from;
  places.from_token = row_stride;
  places.to = tile;
  places.to_token = width;
  Strided4 rows{from, stored, {}, true};
  const bool rounds = is_half(stored) && stored == problem.dtype;
  if (rounds) {  // half to half, then widened
    places.to = tile + kernels::kTileKeys * width;
    rows.data = places.to;
    row_stride = width;
  } else if (stored != dtype_of<T>) {  // a half cache under float32 queries: widened, then turned
    load_rows(rows, 0, row_stride, 1, tokens.count, width, tile);
    places.dtype = dtype_of<T>;
    places.from = tile;
    places.from_token = width;
  }
  turns.run(tokens.b, tokens.first, tokens.count, TurnDirection::forward, places);
  if (rounds) load_rows(rows, 0, row_stride, 1, tokens.count, width, tile);
}

template <class T>
StridedTiles<T>::StridedTiles(const ResolvedAttention& problem)
    : problem_(problem),
      turns_(problem, TurnedRows::keys),
      k_in_place_(rows_in_place<T>(problem.k, problem.width) && !turns_),
      v_in_place_(rows_in_place<T>(problem.v, problem.value_width)),
      stored_rows_(unbroken_rows(problem.k, problem.width) &&
                   unbroken_rows(problem.v, problem.value_width) && !turns_) {}

template <class T>
std::int64_t StridedTiles<T>::scratch_size() const {
  return (k_in_place_ ? 0 : turned_tile_size(problem_.width)) +
         (v_in_place_ ? 0 : kernels::kTileKeys * problem_.value_width);
}

template <class T>
void StridedTiles<T>::load_turned_keys(std::int64_t b, std::int64_t g, std::int64_t first,
                                       int count, T* tile) const {
  const Strided4& k = problem_.k;
  const std::int64_t width = problem_.width;
  const TokenRows tokens{TurnedRows::keys, b, first, count};
  const std::int64_t offset = k.offset(b, g, first, 0);
  if (unbroken_rows(k, width)) {
    const auto bytes = static_cast<std::int64_t>(size_of(k.dtype));
    load_turned_rows(turns_, problem_, tokens,
                     static_cast<const std::byte*>(k.data) + offset * bytes, k.dtype, k.stride[2],
                     tile);
    return;
  }
  // Put together first, where they are going to be turned.
  void* const rows = is_half(k.dtype) ? tile + kernels::kTileKeys * width : tile;
  visit_dtype(k.dtype, [&](auto zero) {
    using Element = decltype(zero);
    const Element* from = static_cast<const Element*>(k.data) + offset;
    Element* to = static_cast<Element*>(rows);
    for (int r = 0; r < count; ++r, from += k.stride[2]) {
      for (std::int64_t d = 0; d < width; ++d) *to++ = from[d * k.stride[3]];
    }
  });
  load_turned_rows(turns_, problem_, tokens, rows, k.dtype, width, tile);
}

template <class T>
KeyValueTile<T> StridedTiles<T>::load(std::int64_t b, std::int64_t g, std::int64_t first, int count,
                                      T* scratch) const {
  KeyValueTile<T> tile;
  const auto place = [&](const Strided4& view, bool in_place, std::int64_t width, const T*& rows,
                         std::int64_t& stride) {
    const std::int64_t offset = view.offset(b, g, first, 0);
    if (in_place) {
      rows = static_cast<const T*>(view.data) + offset;
      stride = view.stride[2];
    } else {
      load_rows(view, offset, view.stride[2], view.stride[3], count, width, scratch);
      rows = scratch;
      stride = width;
      scratch += kernels::kTileKeys * width;
    }
  };
  if (turns_) {
    load_turned_keys(b, g, first, count, scratch);
    tile.k = scratch;
    tile.k_stride = problem_.width;
    scratch += turned_tile_size(problem_.width);
  } else {
    place(problem_.k, k_in_place_, problem_.width, tile.k, tile.k_stride);
  }
  place(problem_.v, v_in_place_, problem_.value_width, tile.v, tile.v_stride);
  return tile;
}

template <class T>
StoredRows StridedTiles<T>::stored(std::int64_t b, std::int64_t g, std::int64_t first) const {
  const auto place = [&](const Strided4& view) {
    const auto bytes = static_cast<std::int64_t>(size_of(view.dtype));
    return static_cast<const std::byte*>(view.data) + view.offset(b, g, first, 0) * bytes;
  };
  return {place(problem_.k), problem_.k.stride[2], place(problem_.v), problem_.v.stride[2]};
}

template void load_rows(const Strided4&, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                        std::int64_t, float*);
template void load_rows(const Strided4&, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                        std::int64_t, double*);
template void load_turned_rows(const RowTurns&, const ResolvedAttention&, const TokenRows&,
                               const void*, DType, std::int64_t, float*);
template void load_turned_rows(const RowTurns&, const ResolvedAttention&, const TokenRows&,
                               const void*, DType, std::int64_t, double*);
template void store_rows(const float*, std::int64_t, std::int64_t, const Strided4&, std::int64_t,
                         std::int64_t, std::int64_t);
template void store_rows(const double*, std::int64_t, std::int64_t, const Strided4&, std::int64_t,
                         std::int64_t, std::int64_t);
template class StridedTiles<float>;
template class StridedTiles<double>;

}  // namespace volvelle
