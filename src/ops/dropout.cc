#include "volvelle/ops/dropout.h"

#include <cmath>
#include <utility>

#include "kernels/dropout.h"
#include "ops/chunks.h"
#include "ops/operands.h"
#include "ops/pass_on.h"
#include "volvelle/autograd/tape.h"
#include "volvelle/ops/scale.h"

namespace volvelle {
namespace {

constexpr OperatorChecks kChecks("dropout");

// `to` may be `from`.
void drop(const kernels::ElementDropout& how, const Tensor& from, Tensor& to) {
  visit_computed(from.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto drop = std::get<kernels::DropElements<T>>(kernels::dropout_element_kernels().drop);
    const T* const in = from.data<T>();
    T* const out = to.data<T>();
    for_each_chunk(from.size(), resolve_threads(0), [&](std::int64_t first, std::int64_t count) {
      drop(how, first, in + first, count, out + first);
    });
  });
}

}  // namespace

Variable dropout(const Variable& x, double p, std::uint64_t seed) {
  check_operand(kChecks, "x", x);
  if (!(p >= 0 && p <= 1)) {
    kChecks.refuse("p = " + std::to_string(p) + " is not a probability; give one in [0, 1]");
  }
  if (p == 0) return x;
  const double threshold = std::nearbyint(p * 0x1p32);
  if (threshold == 0) return scale(x, 1 / (1 - p));  // so unlikely that no word is below it
  const kernels::ElementDropout how{.seed = seed,
                                    .threshold = static_cast<std::uint64_t>(threshold),
                                    .kept = p == 1 ? 0 : 1 / (1 - p)};
  Tensor y(x.dtype(), x.shape());
  drop(how, x.value(), y);
  return record("dropout", std::move(y), {x}, [how](GradientPass& pass) {
    Tensor gradient = pass.take_grad_output();
    if (gradient.is_shared()) {
      const Tensor shared = std::exchange(gradient, Tensor(gradient.dtype(), gradient.shape()));
      drop(how, shared, gradient);
    } else {
      drop(how, gradient, gradient);
    }
    pass_on(pass, 0, std::move(gradient));
  });
}

}  // namespace volvelle
