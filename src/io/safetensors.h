#pragma once

#include "io/bytes.h"
#include "volvelle/io/arrays.h"

namespace volvelle {

/// The arrays of a .safetensors file, in the order of its header. The data area must be covered
/// exactly once. Throws FormatError. Source: the safetensors README (format).
NamedArrays parse_safetensors(const Source& source, const ReadOptions& options = {});

/// Writes a file whose data start at a multiple of 64 bytes; wide elements come first, so that
/// every array is aligned. Throws InvalidArgument (a reserved name, a header beyond the limit,
/// which is the format's own), and what the sink throws.
void write_safetensors(ByteSink& sink, const NamedArrays& arrays,
                       std::size_t max_header_bytes = ReadOptions().max_header_bytes);

}  // namespace volvelle
