#pragma once

#include "volvelle/base/export.h"
#include "volvelle/tensor/store.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

struct MatmulOptions {
  Store store = Store::overwrite;
  int threads = 0;  ///< at most this many; 0: the process's setting (set_threads)
};

/// c = a b, or c += a b, for each pair of matrices: operands are packed on the fly, piece by piece.
/// For a right operand that serves many calls, `linear` with PackedWeights saves that.
///
/// Shapes:  a (..., M, K), b (..., K, N), c (..., M, N). Leading axes are c's; those of a and b are
///          matched from the right and each must be equal or 1. Any length may be 0 (K = 0: zeros).
/// Numbers: all float64, with float64 sums, or float32, bfloat16 or float16, each array for itself;
///          sums are float32. Of bfloat16 pairs as in `linear`.
/// Bits:    a row of c depends on that row of a and on b alone: not on how many rows or matrices
///          there are, nor on the thread count.
/// Strides: all are honoured (transposed, sliced, broadcast). c may not overlap a or b.
/// Throws:  InvalidArgument (shapes, dtypes, overlap), IoError (memory that cannot be had). Nothing
///          is written after a throw that checks caused.
VOLVELLE_API void matmul(const View& a, const View& b, const MutableView& c,
                         const MatmulOptions& options = {});

}  // namespace volvelle
