#include "ops/norm.h"

#include <algorithm>
#include <cmath>

#include "kernels/norm_rows.h"
#include "ops/norm_backward.h"
#include "ops/norm_factors.h"
#include "ops/row_tasks.h"
#include "ops/variable_checks.h"
#include "volvelle/autograd/tape.h"

namespace volvelle {
namespace {

void check_row(const OperatorChecks& checks, const char* name, const Variable& row,
               const Variable& x) {
  if (!row) return;
  check_trainable_beside(checks, name, row, x.dtype());
  checks.shape(name, row.view(), {x.shape()[x.rank() - 1]}, "(C)");
}

void check(const Variable& x, const NormCall& call) {
  const OperatorChecks checks(call.operation);
  check_trainable(checks, "x", x);
  checks.rank("x", x.view(), 1, "(..., C)");
  check_row(checks, "weight", call.weight, x);
  check_row(checks, "bias", call.bias, x);
  if (!(call.epsilon >= 0) || std::isinf(call.epsilon)) {
    checks.refuse("epsilon=" + std::to_string(call.epsilon) + " must be finite and not negative");
  }
  if (!std::isfinite(call.weight_offset)) {
    checks.refuse("weight_offset=" + std::to_string(call.weight_offset) + " must be finite");
  }
  if (call.weight_offset != 0 && !call.weight) {
    checks.refuse("weight_offset=" + std::to_string(call.weight_offset) +
                  " needs a weight to be added to");
  }
  if (!call.dtype) return;
  const DType dtype = *call.dtype;
  const bool fits = x.dtype() == DType::float64
                        ? dtype == DType::float64
                        : dtype == DType::float32 || dtype == DType::bfloat16;
  if (!fits) {
    checks.refuse("dtype " + std::string(name_of(dtype)) + " cannot be made of x " +
                  std::string(name_of(x.dtype())) +
                  "; float64 stays float64, float32 and bfloat16 become each other");
  }
}

}  // namespace

Variable normalise_rows(const Variable& x, const NormCall& call) {
  check(x, call);
  const DType arithmetic = x.dtype() == DType::float64 ? DType::float64 : DType::float32;
  const std::int64_t width = x.shape()[x.rank() - 1];
  const std::int64_t rows = width == 0 ? 0 : x.size() / width;
  const bool keeps = is_recording({&x, &call.weight, &call.bias});

  Tensor y(call.dtype.value_or(x.dtype()), x.shape());
  Tensor statistics;
  if (keeps) statistics = Tensor(arithmetic, {rows, kernels::kNormStatistics});
  const NormFactors factors(call.weight, call.bias, call.weight_offset, arithmetic, width);
  const RowTasks tasks(rows, width, call.threads);
  const std::size_t x_row = static_cast<std::size_t>(width) * size_of(x.dtype());
  const std::size_t y_row = static_cast<std::size_t>(width) * size_of(y.dtype());
  const std::size_t statistics_row = kernels::kNormStatistics * size_of(arithmetic);
  tasks.run([&](std::int64_t first, std::int64_t count) {
    const auto at = static_cast<std::size_t>(first);
    kernels::NormStep step;
    step.x_type = row_type_of(x.dtype());
    step.y_type = row_type_of(y.dtype());
    step.x = static_cast<const std::byte*>(x.value().raw()) + at * x_row;
    step.y = static_cast<std::byte*>(y.raw()) + at * y_row;
    step.factors = factors.factors();
    step.bias = factors.bias();
    if (keeps) step.statistics = static_cast<std::byte*>(statistics.raw()) + at * statistics_row;
    step.rows = count;
    step.width = width;
    step.epsilon = call.epsilon;
    step.centred = call.centred;
    kernels::norm_forward(step);
  });
  if (!keeps) return Variable(std::move(y));
  NormBackward backward{call.operation,     Saved(x),     Saved(call.weight), std::move(statistics),
                        call.weight_offset, call.threads, call.centred};
  return record(call.operation, std::move(y), {x, call.weight, call.bias}, std::move(backward));
}

}  // namespace volvelle
