#pragma once

#include <cstdint>
#include <tuple>

#include "volvelle/base/half.h"

namespace volvelle::kernels {

/// Which elements of an array are dropped. Element i takes word i % 4 of Philox4x32-10 at
///
///     key      = (low, high word of the seed)
///     counter  = (low, high word of i / 4, 0, 2^24)
///
/// apart from the streams of attention's weights, whose last word is below 2^24.
struct ElementDropout {
  std::uint64_t seed = 0;
  std::uint64_t threshold = 1;  ///< a word below it drops the element: 1 to 2^32
  double kept = 1;              ///< factor of what is kept, 1 / (1 - p)
};

/// out = kept * x or 0, for the elements from `first` (a multiple of 4) on. `out` may be x.
template <class T>
using DropElements = void (*)(const ElementDropout& dropout, std::int64_t first, const T* x,
                              std::int64_t count, T* out);

struct DropoutElementKernels {
  std::tuple<DropElements<float>, DropElements<BFloat16>, DropElements<double>> drop;
};

/// Of the instruction set in use.
const DropoutElementKernels& dropout_element_kernels();

}  // namespace volvelle::kernels
