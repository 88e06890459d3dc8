#include "volvelle/ops/add.h"

#include <algorithm>
#include <utility>

#include "kernels/elementwise.h"
#include "ops/chunks.h"
#include "ops/converted_elements.h"
#include "ops/operands.h"
#include "ops/pass_on.h"
#include "ops/row_sums.h"
#include "volvelle/autograd/tape.h"

namespace volvelle {
namespace {

constexpr OperatorChecks kChecks("add");

bool is_last_axes(const Shape& of, const Shape& shape) {
  if (of.rank() > shape.rank()) return false;
  for (int axis = 1; axis <= of.rank(); ++axis) {
    if (of[of.rank() - axis] != shape[shape.rank() - axis]) return false;
  }
  return true;
}

// b goes round under a.
void add_elements(const Tensor& a, const Tensor& b, Tensor& out) {
  visit_pair(a.dtype(), b.dtype(), [&](auto a_zero, auto b_zero) {
    using A = decltype(a_zero);
    using B = decltype(b_zero);
    const auto add = std::get<kernels::AddElements<A, B>>(kernels::elementwise_kernels().add);
    const A* const left = a.data<A>();
    const B* const right = b.data<B>();
    A* const sum = out.data<A>();
    const std::int64_t round = b.size();
    for_each_chunk(a.size(), resolve_threads(0), [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t done = 0; done < count;) {
        const std::int64_t at = first + done;
        const std::int64_t here = std::min(count - done, round - at % round);
        add(left + at, right + at % round, here, sum + at);
        done += here;
      }
    });
  });
}

}  // namespace

Variable add(const Variable& a, const Variable& b) {
  check_operand(kChecks, "a", a);
  check_operand(kChecks, "b", b);
  if (!visit_pair(a.dtype(), b.dtype(), [](auto, auto) {})) {
    kChecks.refuse(told("a", a) + " and " + told("b", b) +
                   ": float64 is added to float64 only; convert one of them");
  }
  if (!is_last_axes(b.shape(), a.shape())) {
    kChecks.refuse(told("b", b) + " must have the shape of " + told("a", a) +
                   " or that of its last axes");
  }
  Tensor sum(a.dtype(), a.shape());
  if (a.size() > 0) add_elements(a.value(), b.value(), sum);
  const std::int64_t rows = b.size() == 0 ? 0 : a.size() / b.size();
  const bool same_shape = a.shape() == b.shape();
  return record("add", std::move(sum), {a, b},
                [rows, same_shape, dtype = b.dtype()](GradientPass& pass) {
                  Tensor gradient = pass.take_grad_output();
                  if (pass.wants(1) && same_shape) {
                    pass_on(pass, 1, converted_elements(gradient, dtype));
                  } else if (pass.wants(1)) {
                    const GradientSlot slot = pass.slot(1);
                    sum_rows(gradient, rows, slot.to, slot.store);
                  }
                  pass_on(pass, 0, std::move(gradient));
                });
}

}  // namespace volvelle
