#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "volvelle/tensor/dtype.h"

namespace volvelle {

/// The element type that a `descr` of NumPy such as "<f4" names, without its byte order.
std::optional<DType> dtype_of_descr(std::string_view descr);

/// Why there is no such element type here, and what to do.
std::string why_unsupported(std::string_view descr);

/// "<f4" and so on; empty for bfloat16, which NumPy lacks.
std::string_view descr_of(DType dtype);

}  // namespace volvelle
