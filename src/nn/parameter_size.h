#pragma once

#include <cstdint>

#include "volvelle/nn/language_model.h"
#include "volvelle/nn/placement.h"
#include "volvelle/nn/stack.h"

namespace volvelle {

/// Parameters of one block of these sizes, as a number that no sizes make overflow.
double block_parameters(const StackOptions& options, const NormPlacement& placement);

/// Throws InvalidArgument, beginning with "[module]", where so many parameters need more bytes than
/// this machine has: before anything is allocated.
void check_parameters_fit(const char* module, double parameters, DType dtype);
/// The same of other numbers; `meaning` says of which: "numbers of tables".
void check_numbers_fit(const char* module, double numbers, const char* meaning, DType dtype);

}  // namespace volvelle
