#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "volvelle/tensor/dtype.h"

namespace volvelle {

/// The element type that a safetensors header calls `name`.
std::optional<DType> dtype_of_safetensors(std::string_view name);

/// Why there is no such element type here.
std::string why_unsupported_in_safetensors(std::string_view name);

/// "F32" and so on.
std::string_view safetensors_name_of(DType dtype);

}  // namespace volvelle
