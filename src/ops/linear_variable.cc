#include "volvelle/ops/linear_variable.h"

#include <string>
#include <utility>

#include "base/thread_pool.h"
#include "ops/activation_backward.h"
#include "ops/checks.h"
#include "ops/curve.h"
#include "ops/kept_packings.h"
#include "ops/pass_on.h"
#include "volvelle/autograd/tape.h"
#include "volvelle/ops/linear.h"
#include "volvelle/ops/linear_backward.h"

namespace volvelle {
namespace {

constexpr OperatorChecks kChecks("linear");

enum Input : int { kX, kWeight, kBias, kResidual };

View view_of(const Variable& variable) { return variable ? variable.view() : View(); }

Shape shape_of_result(const Variable& x, const Variable& weight) {
  if (!x) kChecks.refuse("x is missing");
  if (!weight) kChecks.refuse("weight is missing");
  kChecks.rank("x", x.view(), 1, "(..., K)");
  if (weight.rank() != 2) {
    kChecks.refuse(named_shape("weight", weight.view()) + " must have shape (N,K)");
  }
  Shape shape = x.shape();
  shape[x.rank() - 1] = weight.shape()[0];
  return shape;
}

WeightFormat format_of(DType compute) {
  switch (compute) {
    case DType::float32:
      return WeightFormat::float32;
    case DType::bfloat16:
      return WeightFormat::bfloat16;
    case DType::float16:
      return WeightFormat::float16;
    case DType::float64:
      return WeightFormat::float64;
    default:
      kChecks.refuse("compute is " + std::string(name_of(compute)) +
                     "; it must be float32, float64, bfloat16 or float16");
  }
}

// What the way back needs of the way forward.
struct Way {
  kernels::Curve curve = kernels::Curve::identity;
  Saved x, weight;
  Tensor before;           // before the activation; of relu alone its result says as much
  bool by_output = false;  // `before` is the output itself
  WeightFormat format = WeightFormat::float32;
  int threads = 0;

  void operator()(GradientPass& pass) const {
    Tensor grad = pass.take_grad_output();
    if (pass.wants(kResidual)) pass_on(pass, kResidual, grad);
    if (curve != kernels::Curve::identity) grad = through_activation(pass, std::move(grad));
    if (pass.wants(kBias)) {
      const GradientSlot slot = pass.slot(kBias);
      linear_backward_bias(grad.view(), slot.to, {.store = slot.store, .threads = threads});
    }
    if (pass.wants(kWeight)) {
      const GradientSlot slot = pass.slot(kWeight);
      linear_backward_weights(grad.view(), x.view("linear"), slot.to,
                              {.store = slot.store, .threads = threads});
    }
    if (pass.wants(kX)) {
      const PackedWeights packed = packed_once(weight.variable("linear"), format, threads);
      const GradientSlot slot = pass.slot(kX);
      linear_backward_input(grad.view(), packed, slot.to,
                            {.store = slot.store, .threads = threads});
    }
  }

  Tensor through_activation(GradientPass& pass, Tensor grad) const {
    if (by_output) pass.check_output();
    Tensor to = grad.is_shared() ? Tensor(grad.dtype(), grad.shape()) : grad;
    activation_backward(curve, before.view(), grad.view(), to.mutable_view(),
                        resolve_threads(threads));
    return to;
  }
};

}  // namespace

Variable linear(const Variable& x, const Variable& weight, const Variable& bias,
                const LinearVariableOptions& options) {
  const Shape shape = shape_of_result(x, weight);
  if (options.residual) {
    kChecks.shape("residual", options.residual.view(), shape, "(..., N) of y");
  }
  Way way;
  way.curve = curve_of(options.activation, kChecks);
  way.format = format_of(options.compute.value_or(weight.dtype()));
  way.threads = options.threads;
  Tensor y(options.dtype.value_or(x.dtype()), shape);
  const bool recording = is_recording({&x, &weight, &bias, &options.residual});
  const bool curved = is_recording({&x, &weight, &bias}) && way.curve != kernels::Curve::identity;
  way.by_output = curved && way.curve == kernels::Curve::relu && !options.residual;
  if (curved) way.before = way.by_output ? y : Tensor(y.dtype(), shape);
  linear(x.view(), packed_once(weight, way.format, options.threads), y.mutable_view(),
         {.bias = view_of(bias),
          .activation = options.activation,
          .residual = view_of(options.residual),
          .before_activation = curved && !way.by_output ? way.before.mutable_view() : MutableView(),
          .threads = options.threads});
  if (!recording) return Variable(std::move(y));
  if (weight.requires_grad()) way.x = Saved(x);
  if (x.requires_grad()) way.weight = Saved(weight);
  return record("linear", std::move(y), {x, weight, bias, options.residual}, std::move(way));
}

}  // namespace volvelle
