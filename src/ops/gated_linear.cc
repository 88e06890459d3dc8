#include <optional>
#include <string>
#include <utility>

#include "base/thread_pool.h"
#include "ops/activation_backward.h"
#include "ops/curve.h"
#include "ops/kept_packings.h"
#include "ops/linear_way.h"
#include "volvelle/ops/linear.h"
#include "volvelle/ops/linear_variable.h"

namespace volvelle {
namespace {

constexpr OperatorChecks kChecks("gated_linear");

enum Input : int { kX, kGate, kUp, kGateBias, kUpBias };

View view_of(const Variable& variable) { return variable ? variable.view() : View(); }

struct GatedLinearBackward {
  LinearWay way;
  kernels::Curve curve = kernels::Curve::identity;
  Tensor gates, ups;  // both factors before the activation
  MultipliedInput x;
  Saved gate, up;

  void operator()(GradientPass& pass) const {
    // Each factor's gradient takes the place of the factor, which nobody else reads.
    Tensor to_gate = gates, to_up = ups;
    gated_backward(curve, gates.view(), ups.view(), pass.grad_output(), to_gate.mutable_view(),
                   to_up.mutable_view(), resolve_threads(way.threads));
    std::optional<GradientSlot> to_x;
    one_factor(pass, std::move(to_gate), kGate, kGateBias, gate, to_x);
    one_factor(pass, std::move(to_up), kUp, kUpBias, up, to_x);
  }

  // The gradients that go through one factor; the second one adds to what the first wrote to x.
  void one_factor(GradientPass& pass, Tensor grad, Input weight_input, Input bias_input,
                  const Saved& weight, std::optional<GradientSlot>& to_x) const {
    if (pass.wants(bias_input)) way.bias_gradient(grad, pass.slot(bias_input));
    if (!pass.wants(weight_input) && !pass.wants(kX)) return;
    grad = way.multiplied(grad);
    if (pass.wants(weight_input)) {
      way.weight_gradient(grad, x.view("gated_linear"), pass.slot(weight_input));
    }
    if (!pass.wants(kX)) return;
    to_x = to_x ? GradientSlot{to_x->to, Store::accumulate} : pass.slot(kX);
    way.input_gradient(grad, weight.variable("gated_linear"), *to_x);
  }
};

void check(const Variable& x, const Variable& gate, const Variable& up, const Variable& gate_bias,
           const Variable& up_bias) {
  const Shape shape = linear_shape(kChecks, x, "gate", gate);
  if (linear_shape(kChecks, x, "up", up) != shape || gate.shape() != up.shape()) {
    kChecks.refuse(named_shape("gate", gate.view()) + " and " + named_shape("up", up.view()) +
                   " must have the same shape (N,K)");
  }
  if (gate.dtype() != up.dtype()) {
    kChecks.refuse("gate is " + std::string(name_of(gate.dtype())) + " and up is " +
                   std::string(name_of(up.dtype())) + "; they must be of one dtype");
  }
  if (x.shape()[x.rank() - 1] != up.shape()[1]) {
    kChecks.refuse(named_shape("x", x.view()) +
                   " must end in K = " + std::to_string(up.shape()[1]) + ", the inputs of " +
                   named_shape("gate", gate.view()) + " and " + named_shape("up", up.view()));
  }
  const Shape outputs{up.shape()[0]};
  if (gate_bias) kChecks.shape("gate_bias", gate_bias.view(), outputs, "(N)");
  if (up_bias) kChecks.shape("up_bias", up_bias.view(), outputs, "(N)");
}

}  // namespace

Variable gated_linear(const Variable& x, const Variable& gate, const Variable& up,
                      const Variable& gate_bias, const Variable& up_bias,
                      const GatedLinearOptions& options) {
  check(x, gate, up, gate_bias, up_bias);
  GatedLinearBackward back;
  back.way = linear_way(kChecks, gate, options.compute, options.threads);
  back.curve = curve_of(options.activation, kChecks);
  Tensor y(options.dtype.value_or(x.dtype()), linear_shape(kChecks, x, "up", up));
  const bool recording = is_recording({&x, &gate, &up, &gate_bias, &up_bias});
  if (recording) {
    back.gates = Tensor(y.dtype(), y.shape());
    back.ups = Tensor(y.dtype(), y.shape());
  }
  const Tensor multiplied = back.way.multiplied(x.value());
  linear(multiplied.view(), gated_packed_once(gate, up, back.way.format(), options.threads),
         y.mutable_view(),
         {.bias = view_of(up_bias),
          .gate_bias = view_of(gate_bias),
          .activation = options.activation,
          .before_activation = back.ups.mutable_view(),
          .gate_before_activation = back.gates.mutable_view(),
          .threads = options.threads});
  if (!recording) return Variable(std::move(y));
  if (gate.requires_grad() || up.requires_grad()) back.x = MultipliedInput(x, multiplied);
  if (x.requires_grad()) {
    back.gate = Saved(gate);
    back.up = Saved(up);
  }
  return record("gated_linear", std::move(y), {x, gate, up, gate_bias, up_bias}, std::move(back));
}

}  // namespace volvelle
