#include "volvelle/ops/linear_variable.h"

#include <utility>

#include "base/thread_pool.h"
#include "ops/activation_backward.h"
#include "ops/converted_elements.h"
#include "ops/curve.h"
#include "ops/kept_packings.h"
#include "ops/linear_way.h"
#include "ops/pass_on.h"
#include "volvelle/ops/linear.h"

namespace volvelle {
namespace {

constexpr OperatorChecks kChecks("linear");

enum Input : int { kX, kWeight, kBias, kResidual };

View view_of(const Variable& variable) { return variable ? variable.view() : View(); }

struct LinearBackward {
  LinearWay way;
  kernels::Curve curve = kernels::Curve::identity;
  Tensor before;           // the activation; relu's own result says as much
  bool by_output = false;  // `before` is that
  MultipliedInput x;
  Saved weight;
  DType residual = DType::float32;  // dtype of it

  void operator()(GradientPass& pass) const {
    Tensor grad = pass.take_grad_output();
    if (pass.wants(kResidual)) {
      pass_on(pass, kResidual, converted_elements(grad, residual, way.threads), way.threads);
    }
    if (!pass.wants(kX) && !pass.wants(kWeight) && !pass.wants(kBias)) return;
    if (curve != kernels::Curve::identity) grad = through_activation(pass, std::move(grad));
    if (pass.wants(kBias)) way.bias_gradient(grad, pass.slot(kBias));
    if (!pass.wants(kWeight) && !pass.wants(kX)) return;
    grad = way.multiplied(grad);
    if (pass.wants(kWeight)) way.weight_gradient(grad, x.view("linear"), pass.slot(kWeight));
    if (pass.wants(kX)) way.input_gradient(grad, weight.variable("linear"), pass.slot(kX));
  }

  Tensor through_activation(GradientPass& pass, Tensor grad) const {
    if (by_output) pass.check_output();
    // Over what nobody else reads.
    Tensor to = !grad.is_shared() ? grad : !by_output ? before : Tensor(grad.dtype(), grad.shape());
    activation_backward(curve, before.view(), grad.view(), to.mutable_view(),
                        resolve_threads(way.threads));
    return to;
  }
};

}  // namespace

Variable linear(const Variable& x, const Variable& weight, const Variable& bias,
                const LinearVariableOptions& options) {
  const Shape shape = linear_shape(kChecks, x, "weight", weight);
  if (options.residual) {
    kChecks.shape("residual", options.residual.view(), shape, "(..., N) of y");
  }
  LinearBackward back;
  back.way = linear_way(kChecks, weight, options.compute, options.threads);
  back.curve = curve_of(options.activation, kChecks);
  if (options.residual) back.residual = options.residual.dtype();
  Tensor y(options.dtype.value_or(x.dtype()), shape);
  const bool curved = back.curve != kernels::Curve::identity && is_recording({&x, &weight, &bias});
  back.by_output = curved && back.curve == kernels::Curve::relu && !options.residual;
  if (curved) back.before = back.by_output ? y : Tensor(y.dtype(), shape);
  const Tensor multiplied = back.way.multiplied(x.value());
  linear(
      multiplied.view(), packed_once(weight, back.way.format(), options.threads), y.mutable_view(),
      {.bias = view_of(bias),
       .activation = options.activation,
       .residual = view_of(options.residual),
       .before_activation = curved && !back.by_output ? back.before.mutable_view() : MutableView(),
       .threads = options.threads});
  if (!is_recording({&x, &weight, &bias, &options.residual})) return Variable(std::move(y));
  if (weight.requires_grad()) back.x = MultipliedInput(x, multiplied);
  if (x.requires_grad()) back.weight = Saved(weight);
  return record("linear", std::move(y), {x, weight, bias, options.residual}, std::move(back));
}

}  // namespace volvelle
