#pragma once

#include "volvelle/tensor/view.h"

namespace volvelle {

/// Copies every element of `from` to the same place of `to`, converting where the dtypes differ.
/// Shapes must be equal. Integers stay exact between integer types; to and from floating types
/// they go by way of double.
void copy_elements(const View& from, const MutableView& to);

/// Calls `body` with a value of the element type of `dtype`: `visit_dtype(d, [](auto zero) {...})`.
template <class Body>
decltype(auto) visit_dtype(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::float32:
      return body(float{});
    case DType::float64:
      return body(double{});
    case DType::float16:
      return body(Float16{});
    case DType::bfloat16:
      return body(BFloat16{});
    case DType::int8:
      return body(std::int8_t{});
    case DType::uint8:
      return body(std::uint8_t{});
    case DType::int16:
      return body(std::int16_t{});
    case DType::uint16:
      return body(std::uint16_t{});
    case DType::int32:
      return body(std::int32_t{});
    case DType::uint32:
      return body(std::uint32_t{});
    case DType::int64:
      return body(std::int64_t{});
    case DType::uint64:
      return body(std::uint64_t{});
    case DType::boolean:
      break;
  }
  return body(bool{});
}

}  // namespace volvelle
