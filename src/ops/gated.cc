#include <utility>

#include "base/thread_pool.h"
#include "ops/activation_backward.h"
#include "ops/activation_forward.h"
#include "ops/curve.h"
#include "ops/pass_on.h"
#include "ops/variable_checks.h"
#include "volvelle/autograd/tape.h"
#include "volvelle/ops/activate.h"

namespace volvelle {
namespace {

constexpr const char* kName = "gated";
constexpr OperatorChecks kChecks(kName);

// One of the two gradients may take the place of the output's.
void go_back(GradientPass& pass, kernels::Curve curve, const View& gate, const View& up) {
  Tensor grad = pass.take_grad_output();
  Tensor grad_up(up.dtype(), up.shape());
  Tensor grad_gate = grad.is_shared() ? Tensor(gate.dtype(), gate.shape()) : grad;
  gated_backward(curve, gate, up, grad.view(), grad_gate.mutable_view(), grad_up.mutable_view(),
                 resolve_threads(0));
  grad = {};
  pass_on(pass, 0, std::move(grad_gate));
  pass_on(pass, 1, std::move(grad_up));
}

}  // namespace

Variable gated(const Variable& gate, const Variable& up, Activation activation) {
  check_trainable(kChecks, "gate", gate);
  check_trainable(kChecks, "up", up);
  const kernels::Curve curve = curve_of(activation, kChecks);
  kChecks.shape("up", up.view(), gate.shape(), "of gate");
  if (gate.dtype() != up.dtype()) {
    kChecks.refuse("gate is " + std::string(name_of(gate.dtype())) + " and up " +
                   std::string(name_of(up.dtype())) + "; they must be alike: convert one");
  }
  Tensor y(gate.dtype(), gate.shape());
  gated_forward(curve, gate.view(), up.view(), y.mutable_view(), resolve_threads(0));
  if (!is_recording({&gate, &up})) return Variable(std::move(y));
  return record(kName, std::move(y), {gate, up},
                [gates = Saved(gate), ups = Saved(up), curve](GradientPass& pass) {
                  go_back(pass, curve, gates.view(kName), ups.view(kName));
                });
}

}  // namespace volvelle
