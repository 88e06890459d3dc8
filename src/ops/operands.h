#pragma once

#include <string>

#include "ops/checks.h"
#include "ops/computed_types.h"
#include "volvelle/autograd/variable.h"

namespace volvelle {

/// Present, and of a dtype that operators compute with.
inline void check_operand(const OperatorChecks& checks, const char* name, const Variable& x) {
  if (!x) checks.refuse(std::string(name) + " is missing");
  if (is_computed(x.dtype())) return;
  checks.refuse(std::string(name) + " is " + std::string(name_of(x.dtype())) +
                "; it must be float32, bfloat16 or float64");
}

/// "x (2,12,64) float32", for messages.
inline std::string told(const char* name, const Variable& x) {
  return std::string(name) + " " + to_string(x.shape()) + " " + std::string(name_of(x.dtype()));
}

}  // namespace volvelle
