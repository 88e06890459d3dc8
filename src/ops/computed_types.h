#pragma once

#include "volvelle/tensor/view.h"

namespace volvelle {

/// Calls `body(A{}, B{})` with the element types of a pair that element-by-element arithmetic
/// knows: float32 and bfloat16 in any pairing, float64 with itself. False: it does not.
template <class Body>
bool visit_pair(DType a, DType b, Body&& body) {
  const auto with = [&](auto left) {
    if (b == DType::float32) {
      body(left, float{});
    } else if (b == DType::bfloat16) {
      body(left, BFloat16{});
    } else {
      return false;
    }
    return true;
  };
  if (a == DType::float32) return with(float{});
  if (a == DType::bfloat16) return with(BFloat16{});
  if (a != DType::float64 || b != DType::float64) return false;
  body(double{}, double{});
  return true;
}

/// The same for one array: float32, bfloat16, float64.
template <class Body>
bool visit_computed(DType dtype, Body&& body) {
  if (dtype == DType::float32) {
    body(float{});
  } else if (dtype == DType::bfloat16) {
    body(BFloat16{});
  } else if (dtype == DType::float64) {
    body(double{});
  } else {
    return false;
  }
  return true;
}

inline bool is_computed(DType dtype) {
  return visit_computed(dtype, [](auto) {});
}

}  // namespace volvelle
