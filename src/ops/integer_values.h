#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/checks.h"
#include "volvelle/tensor/tensor.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// The numbers of an array of integers, in row-major order; what int64 cannot hold is its largest.
/// Throws InvalidArgument unless they are there and integers; `meaning` says what they are.
std::vector<std::int64_t> integer_values(const OperatorChecks& checks, const char* name,
                                         const View& view, const char* meaning);

/// The same as int64 in the shape of the view.
Tensor integer_tensor(const OperatorChecks& checks, const char* name, const View& view,
                      const char* meaning);

/// "(1,3)": where the element of this row-major index stands.
std::string place_of(std::int64_t index, const Shape& shape);

}  // namespace volvelle
