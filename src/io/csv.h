#pragma once

#include "io/bytes.h"
#include "volvelle/io/arrays.h"

namespace volvelle {

/// The matrix of a CSV text (see read_array). Throws FormatError naming line and column.
Tensor parse_csv(const Source& source, const ReadOptions& options = {});

}  // namespace volvelle
