#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/tensor/shape.h"

namespace volvelle {

/// Where numbers stopped being finite on the way to a result.
struct NonFiniteResult {
  const char* operation = "";  ///< whose result it is
  Shape shape;
  std::int64_t index = 0;  ///< of the first such element, in row-major order
  double value = 0;
  /// The parameters that the operator reads; where it reads none, those of the last operator before
  /// it that reads some.
  std::vector<Variable> parameters;
};

/// The earliest result behind `output`, itself included, that holds a NaN or an infinity; absent
/// where none does. Looks at what is still held, by the tape for the way back or by a caller: of
/// results that nobody needs again, and of what is computed again on the way back, only what was
/// made of them is seen, and after `backward` nothing is.
VOLVELLE_API std::optional<NonFiniteResult> first_non_finite_result(const Variable& output);

}  // namespace volvelle
