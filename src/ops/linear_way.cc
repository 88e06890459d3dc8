#include "ops/linear_way.h"

#include <string>

#include "ops/kept_packings.h"
#include "ops/rounded.h"
#include "volvelle/ops/linear.h"
#include "volvelle/ops/linear_backward.h"

namespace volvelle {

WeightFormat LinearWay::format() const {
  if (compute == DType::float64) return WeightFormat::float64;
  if (compute == DType::bfloat16) return WeightFormat::bfloat16;
  return compute == DType::float16 ? WeightFormat::float16 : WeightFormat::float32;
}

Tensor LinearWay::multiplied(const Tensor& numbers) const {
  const bool narrows = compute == DType::bfloat16 && numbers.dtype() != DType::float64;
  return narrows ? rounded(numbers, DType::bfloat16, threads) : numbers;
}

void LinearWay::input_gradient(const Tensor& grad, const Variable& weight,
                               const GradientSlot& slot) const {
  if (compute != DType::bfloat16) {
    linear_backward_input(grad.view(), weight.view(), slot.to,
                          {.store = slot.store, .threads = threads});
    return;
  }
  // In pairs along the other axis, which W itself would have to be taken apart for.
  linear(
      grad.view(), transposed_packed_once(weight, WeightFormat::bfloat16, threads), slot.to,
      {.residual = slot.store == Store::accumulate ? View(slot.to) : View(), .threads = threads});
}

void LinearWay::weight_gradient(const Tensor& grad, const View& x, const GradientSlot& slot) const {
  linear_backward_weights(grad.view(), x, slot.to, {.store = slot.store, .threads = threads});
}

void LinearWay::bias_gradient(const Tensor& grad, const GradientSlot& slot) const {
  linear_backward_bias(grad.view(), slot.to, {.store = slot.store, .threads = threads});
}

LinearWay linear_way(const OperatorChecks& checks, const Variable& weight,
                     std::optional<DType> compute, int threads) {
  const DType dtype = compute.value_or(weight.dtype());
  if (dtype == DType::float16 && weight.dtype() != DType::float16) {
    checks.refuse("compute is float16; products of the tape multiply float32, bfloat16 or float64");
  }
  if (!is_floating(dtype)) {
    checks.refuse((compute ? "compute is " : "weight is ") + std::string(name_of(dtype)) +
                  "; it must be float32, float64, bfloat16 or float16");
  }
  return {dtype, threads};
}

MultipliedInput::MultipliedInput(const Variable& x, const Tensor& multiplied) {
  if (multiplied.raw() == x.value().raw()) {
    saved_ = Saved(x);
  } else {
    rounded_ = multiplied;
  }
}

View MultipliedInput::view(const char* operation) const {
  return rounded_ ? rounded_.view() : saved_.view(operation);
}

Shape linear_shape(const OperatorChecks& checks, const Variable& x, const char* name,
                   const Variable& weight) {
  if (!x) checks.refuse("x is missing");
  if (!weight) checks.refuse(std::string(name) + " is missing");
  checks.rank("x", x.view(), 1, "(..., K)");
  if (weight.rank() != 2) {
    checks.refuse(named_shape(name, weight.view()) + " must have shape (N,K)");
  }
  Shape shape = x.shape();
  shape[x.rank() - 1] = weight.shape()[0];
  return shape;
}

}  // namespace volvelle
