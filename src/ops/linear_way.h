#pragma once

#include <optional>

#include "ops/checks.h"
#include "volvelle/autograd/tape.h"
#include "volvelle/ops/packed_weights.h"

namespace volvelle {

/// What linear layers on the tape share: which numbers their products multiply, on how many
/// threads.
struct LinearWay {
  DType compute = DType::float32;
  int threads = 0;

  WeightFormat format() const;
  /// Rounded to bfloat16 where the products multiply that.
  Tensor multiplied(const Tensor& numbers) const;

  /// Gradient of x from `grad`, as it is multiplied: the gradient of x W^T.
  void input_gradient(const Tensor& grad, const Variable& weight, const GradientSlot& slot) const;
  /// Gradient of the weight.
  void weight_gradient(const Tensor& grad, const View& x, const GradientSlot& slot) const;
  /// Gradient of the bias; `grad` in its full width.
  void bias_gradient(const Tensor& grad, const GradientSlot& slot) const;
};

/// Throws InvalidArgument for dtypes that no product multiplies.
LinearWay linear_way(const OperatorChecks& checks, const Variable& weight,
                     std::optional<DType> compute, int threads);

/// x as the products read it, for as long as the gradient of the weight needs it.
class MultipliedInput {
 public:
  MultipliedInput() = default;
  MultipliedInput(const Variable& x, const Tensor& multiplied);

  View view(const char* operation) const;

 private:
  Tensor rounded_;  // else the variable's own numbers are read
  Saved saved_;
};

/// Shape of x W^T. Throws InvalidArgument unless x (..., K) and a weight (N,K) are there.
Shape linear_shape(const OperatorChecks& checks, const Variable& x, const char* name,
                   const Variable& weight);

}  // namespace volvelle
