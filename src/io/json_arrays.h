#pragma once

#include "io/bytes.h"
#include "volvelle/io/arrays.h"

namespace volvelle {

/// The arrays of a JSON object. Messages name places as "q[1][0]". Throws FormatError.
NamedArrays parse_json_arrays(const Source& source, const ReadOptions& options = {});

/// The array that a JSON text is. Throws FormatError.
Tensor parse_json_array(const Source& source, const ReadOptions& options = {});

}  // namespace volvelle
