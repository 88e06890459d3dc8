#pragma once

#include <cstdint>
#include <tuple>

#include "volvelle/base/half.h"

namespace volvelle::kernels {

/// sums[c] = sum over r < rows, in order, of from[r * stride + c] for c < columns: in float where
/// numbers are stored as float or BFloat16, in double of double.
template <class S, class T>
using AddUpColumns = void (*)(const S* from, std::int64_t stride, std::int64_t rows,
                              std::int64_t columns, T* sums);

/// `std::get<AddUpColumns<S, T>>(column_kernels().add_up)`.
struct ColumnKernels {
  std::tuple<AddUpColumns<float, float>, AddUpColumns<BFloat16, float>,
             AddUpColumns<double, double>>
      add_up;
};

/// Of the instruction set in use.
const ColumnKernels& column_kernels();

}  // namespace volvelle::kernels
