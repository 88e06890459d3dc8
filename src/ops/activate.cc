#include "volvelle/ops/activate.h"

#include <utility>

#include "base/thread_pool.h"
#include "ops/activation_backward.h"
#include "ops/activation_forward.h"
#include "ops/curve.h"
#include "ops/pass_on.h"
#include "ops/variable_checks.h"
#include "volvelle/autograd/tape.h"

namespace volvelle {
namespace {

constexpr const char* kName = "activate";
constexpr OperatorChecks kChecks(kName);

void go_back(GradientPass& pass, kernels::Curve curve, const View& x) {
  Tensor grad = pass.take_grad_output();
  Tensor own = grad.is_shared() ? Tensor(x.dtype(), x.shape()) : grad;
  activation_backward(curve, x, grad.view(), own.mutable_view(), resolve_threads(0));
  grad = {};
  pass_on(pass, 0, std::move(own));
}

}  // namespace

Variable activate(const Variable& x, Activation activation) {
  check_trainable(kChecks, "x", x);
  const kernels::Curve curve = curve_of(activation, kChecks);
  if (curve == kernels::Curve::identity) return x;
  Tensor y(x.dtype(), x.shape());
  activation_forward(curve, x.view(), y.mutable_view(), resolve_threads(0));
  if (!is_recording({&x})) return Variable(std::move(y));
  if (curve == kernels::Curve::relu) {
    // Its result tells as much as x, and whoever reads it keeps it anyway.
    const Tensor kept = y;
    return record(kName, std::move(y), {x}, [kept, curve](GradientPass& pass) {
      pass.check_output();
      go_back(pass, curve, kept.view());
    });
  }
  return record(kName, std::move(y), {x}, [kept = Saved(x), curve](GradientPass& pass) {
    go_back(pass, curve, kept.view(kName));
  });
}

}  // namespace volvelle
