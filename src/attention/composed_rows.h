#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "attention/resolved.h"

namespace volvelle {

/// A finite number of double stays finite in float: of a bias only -inf takes a key out.
inline float narrowed(double value) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return static_cast<float>(std::isinf(value) ? value : std::clamp(value, -kMost, kMost));
}

/// An element as the composed path computes with it.
template <class Real, class T>
Real widened(T value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return static_cast<Real>(to_float(value));
  } else if constexpr (std::is_same_v<T, double> && std::is_same_v<Real, float>) {
    return narrowed(value);
  } else {
    return static_cast<Real>(value);
  }
}

/// Rows [0, rows) of one head, gathered without gaps.
template <class Real>
void gather_rows(const Strided4& array, std::int64_t b, std::int64_t h, std::int64_t rows,
                 std::int64_t width, Real* out);

/// The way back, into any floating dtype; nothing where the array is absent.
template <class Real>
void scatter_rows(const Strided4& array, std::int64_t b, std::int64_t h, std::int64_t rows,
                  std::int64_t width, const Real* from);

/// Eight partial sums: shorter chains of rounding, and the compiler makes vectors of them.
template <class Real>
Real dot(const Real* a, const Real* b, std::int64_t count) {
  Real part[8] = {};
  std::int64_t d = 0;
  for (; d + 8 <= count; d += 8) {
    for (int lane = 0; lane < 8; ++lane) part[lane] += a[d + lane] * b[d + lane];
  }
  for (; d < count; ++d) part[d % 8] += a[d] * b[d];
  return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

}  // namespace volvelle
