#pragma once

#include "kernels/row_type.h"
#include "ops/checks.h"
#include "volvelle/autograd/variable.h"

namespace volvelle {

/// Throws InvalidArgument unless the variable is present, float32, bfloat16 or float64.
void check_trainable(const OperatorChecks& checks, const char* name, const Variable& variable);

/// The same for a variable that meets one of `dtype`: both are float64, or neither is.
void check_trainable_beside(const OperatorChecks& checks, const char* name,
                            const Variable& variable, DType dtype);

/// Of a dtype that passed these checks.
kernels::RowType row_type_of(DType dtype);

}  // namespace volvelle
