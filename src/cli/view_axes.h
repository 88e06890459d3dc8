#pragma once

#include <cstdint>

#include "volvelle/tensor/tensor.h"
#include "volvelle/tensor/view.h"

namespace volvelle::cli {

/// How many tokens q, k or v has, (B,H,T,D) or without leading axes; 0 below rank 2.
std::int64_t tokens_of(const View& view);

/// How many batch rows q has: 1 below rank 4.
std::int64_t batch_of(const View& q);

/// The same memory with two axes swapped.
template <class AnyView>
AnyView swapped(const AnyView& view, int a, int b) {
  Shape shape = view.shape();
  Strides strides = view.strides();
  shape[a] = view.shape()[b];
  shape[b] = view.shape()[a];
  strides[a] = view.strides()[b];
  strides[b] = view.strides()[a];
  return AnyView(view.data(), view.dtype(), shape, strides);
}

/// One place of an axis, which goes away.
View picked(const View& view, int axis, std::int64_t index);

/// With leading axes of length 1 up to `rank`.
View with_rank(const View& view, int rank);

/// Without leading axes (of length 1) beyond `rank`.
View without_leading(const View& view, int rank);

/// The same memory under another shape of as many elements.
Tensor reshaped(const Tensor& array, const Shape& shape);

/// A list as one row for each of `rows` batch rows, all reading the same memory.
View repeated_rows(const View& view, std::int64_t rows);

}  // namespace volvelle::cli
