#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "volvelle/base/export.h"
#include "volvelle/base/half.h"

namespace volvelle {

/// Element types that views and tensors carry. float16 and bfloat16 are stored as their 16 bits.
enum class DType : std::uint8_t {
  float32,
  float64,
  float16,
  bfloat16,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  boolean,
};

/// Bytes of one element.
VOLVELLE_API std::size_t size_of(DType dtype) noexcept;

/// "float32", "bfloat16", "bool", ...: the names that options, JSON and messages use.
VOLVELLE_API std::string_view name_of(DType dtype) noexcept;

VOLVELLE_API bool is_floating(DType dtype) noexcept;
VOLVELLE_API bool is_integer(DType dtype) noexcept;  ///< boolean is not an integer

/// The DType of a C++ element type: `dtype_of<float>`.
template <class T>
inline constexpr DType dtype_of = T::no_dtype_for_this_type;
template <>
inline constexpr DType dtype_of<float> = DType::float32;
template <>
inline constexpr DType dtype_of<double> = DType::float64;
template <>
inline constexpr DType dtype_of<Float16> = DType::float16;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::bfloat16;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::int8;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::uint8;
template <>
inline constexpr DType dtype_of<std::int16_t> = DType::int16;
template <>
inline constexpr DType dtype_of<std::uint16_t> = DType::uint16;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::int32;
template <>
inline constexpr DType dtype_of<std::uint32_t> = DType::uint32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::int64;
template <>
inline constexpr DType dtype_of<std::uint64_t> = DType::uint64;
template <>
inline constexpr DType dtype_of<bool> = DType::boolean;

}  // namespace volvelle
