#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/bytes.h"
#include "volvelle/io/arrays.h"

namespace volvelle {

/// One tensor as the header states it, checked: the dtype is one of ours, the range has the size
/// that shape and dtype demand.
struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::float32;
  Shape shape;
  std::uint64_t begin = 0;  ///< from the start of the data, which follows the header
  std::uint64_t end = 0;
};

/// Reads the JSON text of a header whose bytes start at byte 8 of the file. Throws FormatError:
/// not JSON, a name or key given twice, a key missing or unknown, an element type that this
/// library lacks, a size that does not fit.
std::vector<SafetensorsEntry> parse_safetensors_header(const Source& header);

/// The JSON text for these arrays, stored one after the other, with `__metadata__`.
/// Throws InvalidArgument for a name that is reserved.
std::string safetensors_header_for(const NamedArrays& arrays);

}  // namespace volvelle
