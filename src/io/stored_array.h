#pragma once

#include <cstdint>
#include <optional>

#include "io/bytes.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// Bytes that an array of this shape takes, or nothing when the product of its axes, those of
/// length 0 left out, leaves 63 bits: a shape like (0, 2^40, 2^40) has no strides either.
std::optional<std::uint64_t> array_bytes(const Shape& shape, DType dtype);

/// The array whose row-major elements lie at `offset`: shared with the owner of `source` where
/// there is one and the elements are aligned, else copied. The caller has checked that the bytes
/// are there. Throws FormatError for a boolean that is neither 0 nor 1.
Tensor stored_array(const Source& source, std::uint64_t offset, DType dtype, const Shape& shape);

/// Throws FormatError when a boolean array holds a byte that is neither 0 nor 1 (reading such a
/// byte as bool is undefined); `offset` is where the array starts in the file.
void check_booleans(const Tensor& array, const std::string& file, std::uint64_t offset);

}  // namespace volvelle
