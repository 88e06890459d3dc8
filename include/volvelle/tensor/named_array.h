#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// An array with its name, as files that hold several have them.
struct NamedArray {
  std::string name;
  Tensor array;
};

using NamedArrays = std::vector<NamedArray>;  ///< in the order of the file; names are unique

/// The array called `name`, or nullptr.
VOLVELLE_API const Tensor* find_array(const NamedArrays& arrays, std::string_view name);

}  // namespace volvelle
