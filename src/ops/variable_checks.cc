#include "ops/variable_checks.h"

namespace volvelle {

void check_trainable(const OperatorChecks& checks, const char* name, const Variable& variable) {
  if (!variable) checks.refuse(std::string(name) + " is missing");
  const DType dtype = variable.dtype();
  if (dtype == DType::float32 || dtype == DType::bfloat16 || dtype == DType::float64) return;
  checks.refuse(std::string(name) + " is " + std::string(name_of(dtype)) +
                "; it must be float32, bfloat16 or float64");
}

void check_trainable_beside(const OperatorChecks& checks, const char* name,
                            const Variable& variable, DType dtype) {
  check_trainable(checks, name, variable);
  if ((variable.dtype() == DType::float64) == (dtype == DType::float64)) return;
  checks.refuse(std::string(name) + " is " + std::string(name_of(variable.dtype())) + " beside " +
                std::string(name_of(dtype)) + "; float64 goes with float64 only: convert one");
}

kernels::RowType row_type_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return kernels::RowType::float64;
    case DType::bfloat16:
      return kernels::RowType::bfloat16;
    default:
      return kernels::RowType::float32;
  }
}

}  // namespace volvelle
