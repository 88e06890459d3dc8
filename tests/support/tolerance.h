#pragma once

#include <cstdint>

#include "volvelle/tensor/dtype.h"

namespace volvelle::testing {

/// |ours - right| <= absolute + relative * |right|.
struct Allowed {
  double absolute = 0;
  double relative = 0;
};

/// What rounding errors grow with.
struct Sizes {
  DType dtype = DType::float32;
  double terms = 1;       ///< |scale| * D * rms(q) * rms(k): the sum of a score's terms, unsigned
  std::int64_t keys = 1;  ///< S, the length of the sums over keys
  double logit = 0;       ///< size of the row's scores: their rounding moves every weight
  double value = 1;       ///< largest |v|, which bounds the output
  std::int64_t value_width = 1;  ///< E, the length of the sums behind a gradient's terms
  bool rounded_weights = false;  ///< to bfloat16, before the value product
  /// Elements of q and k that turned, of a half type, and may have gone to the other neighbour, as
  /// a share of D.
  double rounded_turns = 0;
};

/// What a correct path may differ from the oracle, in one place.
Allowed allowed_output(const Sizes& sizes);
Allowed allowed_lse(const Sizes& sizes);
Allowed allowed_entropy(const Sizes& sizes);
/// Of an element of a gradient, a sum of so many terms whose magnitudes add up to `magnitude`;
/// `stored` is the gradient's dtype.
Allowed allowed_gradient(const Sizes& sizes, std::int64_t terms, double magnitude, DType stored);
/// Of a sum over queries, every term off by the same share at worst.
Allowed allowed_column_sum(const Sizes& sizes);
/// Of a sum of `depth` products whose sizes add up to `terms`, stored in `dtype`, with float32
/// sums (float64 ones of float64).
Allowed allowed_product(DType dtype, double terms, std::int64_t depth);

}  // namespace volvelle::testing
