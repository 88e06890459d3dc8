#pragma once

#include <cstdint>

#include "ops/joint_axes.h"
#include "ops/matrix.h"
#include "volvelle/tensor/store.h"

namespace volvelle {

/// Rows that lie one after another, in places of a batch.
struct SummedRows {
  Matrix matrix;  ///< of one place; any floating dtype
  std::int64_t rows = 0, columns = 0;
  JointAxes<1> places;
};

/// out (+)= the sum of all rows, one element a column: blocks of rows are summed in order and added
/// in order. `out` is float64 where the rows are, and a row of any other floating dtype otherwise.
void sum_columns(const SummedRows& summed, const MutableMatrix& out, Store store, int threads);

}  // namespace volvelle
