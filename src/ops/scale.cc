#include "volvelle/ops/scale.h"

#include <utility>

#include "kernels/elementwise.h"
#include "ops/chunks.h"
#include "ops/operands.h"
#include "ops/pass_on.h"
#include "volvelle/autograd/tape.h"

namespace volvelle {
namespace {

constexpr OperatorChecks kChecks("scale");

// `to` may be `from`.
void scale_elements(const Tensor& from, double factor, Tensor& to) {
  visit_computed(from.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto scaled = std::get<kernels::ScaleElements<T>>(kernels::elementwise_kernels().scale);
    const T* const in = from.data<T>();
    T* const out = to.data<T>();
    for_each_chunk(from.size(), resolve_threads(0), [&](std::int64_t first, std::int64_t count) {
      scaled(in + first, factor, count, out + first);
    });
  });
}

}  // namespace

Variable scale(const Variable& x, double factor) {
  check_operand(kChecks, "x", x);
  Tensor y(x.dtype(), x.shape());
  scale_elements(x.value(), factor, y);
  return record("scale", std::move(y), {x}, [factor](GradientPass& pass) {
    Tensor gradient = pass.take_grad_output();
    if (gradient.is_shared()) {
      const Tensor shared = std::exchange(gradient, Tensor(gradient.dtype(), gradient.shape()));
      scale_elements(shared, factor, gradient);
    } else {
      scale_elements(gradient, factor, gradient);
    }
    pass_on(pass, 0, std::move(gradient));
  });
}

}  // namespace volvelle
