#include "support/tolerance.h"

#include <cmath>

namespace volvelle::testing {
namespace {

// Half the distance from 1 to the next number.
double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 0x1p-53;
    case DType::float16:
      return 0x1p-11;
    case DType::bfloat16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

double computing_roundoff(DType dtype) {
  return unit_roundoff(dtype == DType::float64 ? DType::float64 : DType::float32);
}

// Error of a weight as a share of it. The chain of a score's sum rounds every partial sum, of which
// `terms` is a bound; the row's sum adds the root of S; the constant covers exp and divisions.
double share(const Sizes& sizes) {
  const double steps = 16 + 2 * sizes.terms + std::sqrt(static_cast<double>(sizes.keys)) +
                       2 * std::fabs(sizes.logit);
  return 2 * steps * computing_roundoff(sizes.dtype) +
         2 * sizes.rounded_turns * sizes.terms * unit_roundoff(sizes.dtype);
}

}  // namespace

Allowed allowed_output(const Sizes& sizes) {
  Allowed allowed{share(sizes) * sizes.value, 0};
  if (sizes.dtype == DType::float16 || sizes.dtype == DType::bfloat16) {
    allowed.relative = 2.01 * unit_roundoff(sizes.dtype);  // stored as either neighbour
    allowed.absolute += 0x1p-24;                           // one step among float16's smallest
  }
  // Each weight is off by half a unit of its last place at most, so their weighted mean is, too.
  if (sizes.rounded_weights) allowed.absolute += unit_roundoff(DType::bfloat16) * sizes.value;
  return allowed;
}

Allowed allowed_lse(const Sizes& sizes) { return {share(sizes), 0}; }

Allowed allowed_entropy(const Sizes& sizes) {
  const double most = 2 + std::log(static_cast<double>(sizes.keys) + 2);
  return {2 * most * share(sizes), 0};
}

// The share of a weight reaches every term; dP and delta are sums over E, the saved output and a
// half-precision path's factors are rounded to the storage type.
Allowed allowed_gradient(const Sizes& sizes, std::int64_t terms, double magnitude, DType stored) {
  const bool half = sizes.dtype == DType::float16 || sizes.dtype == DType::bfloat16;
  const double chain = 8 + std::sqrt(static_cast<double>(terms + sizes.value_width));
  const double part = share(sizes) + 2 * chain * computing_roundoff(sizes.dtype) +
                      (half ? 2 * unit_roundoff(sizes.dtype) : 0.0);
  // Weights below 2^-100 are left out on the way back in float32: each may bring the size of its
  // term, up to thousands here.
  const double left_out = sizes.dtype == DType::float64 ? 1e-30 : 0x1p-88;
  Allowed allowed{part * magnitude + left_out, 2.01 * unit_roundoff(stored)};
  if (stored == DType::float16) allowed.absolute += 0x1p-24;  // one step among its smallest
  return allowed;
}

Allowed allowed_column_sum(const Sizes& sizes) { return {share(sizes), share(sizes)}; }

// Rounding errors of a chain are independent enough to grow with the root of its length; 4 covers
// what is added and multiplied afterwards.
Allowed allowed_product(DType dtype, double terms, std::int64_t depth) {
  const double steps = 4 + std::sqrt(static_cast<double>(depth));
  // The oracle sums in double itself.
  const double unit =
      dtype == DType::float64 ? 2 * unit_roundoff(DType::float64) : unit_roundoff(DType::float32);
  Allowed allowed{steps * unit * terms, 4 * unit};
  if (dtype == DType::float16 || dtype == DType::bfloat16) {
    allowed.relative += 1.01 * unit_roundoff(dtype);
    allowed.absolute += 0x1p-25;  // half a step among float16's smallest
  }
  return allowed;
}

}  // namespace volvelle::testing
