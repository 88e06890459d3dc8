#pragma once

#include <cstdint>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/measure/figures.h"
#include "volvelle/tensor/dtype.h"

namespace volvelle {

/// A product with weights to be timed: y (M,N) = x (M,K) W^T, W (N,K), all of one dtype.
struct MatmulCase {
  DType dtype = DType::float32;
  std::int64_t m = 128;
  std::int64_t n = 768;
  std::int64_t k = 768;
  bool cold_weights = false;  ///< equal weights in different places are taken in turn
};

struct MatmulFigures : Figures {
  MatmulCase shape;
};

/// 2 M N K.
VOLVELLE_API double matmul_operations(const MatmulCase& shape);

/// Packs random weights, checks `linear` on sampled elements against sums in double, then times it
/// alone. With cold weights the figures are against the read bandwidth as well, counting the bytes
/// of the packed weights.
/// Throws:  InvalidArgument for lengths below 1 and what `linear` refuses; InternalError when the
///          result is beyond the tolerance; IoError for memory that cannot be had.
VOLVELLE_API MatmulFigures measure_matmul(const MatmulCase& shape,
                                          const MeasureOptions& options = {});

/// Square ones from 256 to 2048; 1 to 2048 rows through the layers of a block of width 768 (a
/// single row with cold weights); in float32 and bfloat16.
VOLVELLE_API const std::vector<MatmulCase>& matmul_cases();

}  // namespace volvelle
