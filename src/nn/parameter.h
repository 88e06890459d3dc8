#pragma once

#include <cstdint>
#include <optional>

#include "volvelle/autograd/variable.h"
#include "volvelle/nn/forward.h"

namespace volvelle {

/// A leaf that gathers a gradient, every element `value`. Throws InvalidArgument, beginning with
/// "[module]", for dtypes other than float32 and float64.
Variable make_parameter(const char* module, DType dtype, const Shape& shape, double value = 0);

/// Throws InvalidArgument, "[module] name=-3 must be positive", below 1.
void check_size(const char* module, const char* name, std::int64_t size);

/// Throws InvalidArgument outside [0, 1).
void check_dropout(const char* module, double dropout);

/// What products with weights of this dtype multiply, for `LinearVariableOptions::compute`.
std::optional<DType> compute_of(DType weights, const ForwardOptions& how);

/// The dtype of what stands between two products: bfloat16 where they multiply that.
DType between_products(DType weights, const ForwardOptions& how);

}  // namespace volvelle
