#pragma once

#include "kernels/matmul_finish.h"
#include "ops/checks.h"
#include "volvelle/ops/activation.h"

namespace volvelle {

/// What kernels call an activation; refuses a number that is none.
kernels::Curve curve_of(Activation activation, const OperatorChecks& checks);

}  // namespace volvelle
