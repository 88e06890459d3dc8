#pragma once

#include "io/bytes.h"
#include "io/npy_header.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// The array of a .npy file. Throws FormatError.
Tensor parse_npy(const Source& source);

/// Row-major and little-endian from elements that lie as `header` says. `stored` has the header's
/// dtype and shape and may share its bytes with others: they are not written to.
Tensor arranged(const Tensor& stored, const NpyHeader& header);

}  // namespace volvelle
