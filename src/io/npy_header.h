#pragma once

#include <cstdint>
#include <string>

#include "io/bytes.h"
#include "volvelle/tensor/dtype.h"
#include "volvelle/tensor/shape.h"

namespace volvelle {

/// What a .npy header states. Source: numpy.lib.format, versions 1.0, 2.0 and 3.0.
struct NpyHeader {
  DType dtype = DType::float32;
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
};

/// As many first bytes as tell where the array starts.
inline constexpr std::size_t kNpyPrefix = 12;

/// Bytes before the array, from at least the first `kNpyPrefix` bytes (fewer if the file has fewer)
/// of a .npy file of `total` bytes. Throws FormatError: not a .npy file, an unknown version, a
/// header longer than the file or than any header of a plain array.
std::size_t npy_header_bytes(const Source& prefix, std::uint64_t total);

/// Reads the header, all of whose bytes are given, and checks that the array it states is exactly
/// what follows it in a file of `total` bytes. Throws FormatError.
NpyHeader parse_npy_header(const Source& header, std::uint64_t total);

/// Header of version 1.0 for a row-major array, padded so that the array starts at a multiple of
/// 64 bytes; byte for byte what NumPy writes. Throws InternalError for bfloat16, which .npy lacks.
std::string npy_header_for(DType dtype, const Shape& shape);

}  // namespace volvelle
