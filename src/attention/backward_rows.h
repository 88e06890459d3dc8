#pragma once

#include <cstdint>

#include "attention/resolved.h"

namespace volvelle {

/// Copies `rows` rows of `columns` elements of a view of any floating dtype to rows of `to_stride`
/// elements, converted to T; what is left of each row is 0.
template <class T>
void load_padded_rows(const Strided4& view, std::int64_t offset, std::int64_t rows,
                      std::int64_t columns, T* to, std::int64_t to_stride);

/// Stores `rows` rows that lie `from_stride` apart, times `factor`, into a view of T or of a half
/// type. `row` has room for one row.
template <class T>
void store_scaled_rows(const T* from, std::int64_t from_stride, std::int64_t rows,
                       std::int64_t columns, T factor, const Strided4& view, std::int64_t offset,
                       T* row);

/// Stores one number into a view of any floating dtype.
void store_number(const Strided4& view, std::int64_t offset, double value);
void store_number(const Strided2& view, std::int64_t a, std::int64_t b, double value);

}  // namespace volvelle
