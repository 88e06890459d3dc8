#include "volvelle/ops/sums.h"

#include <algorithm>
#include <utility>

#include "kernels/elementwise.h"
#include "ops/array_sums.h"
#include "ops/chunks.h"
#include "ops/operands.h"
#include "ops/pass_on.h"
#include "tensor/convert.h"
#include "volvelle/autograd/tape.h"

namespace volvelle {
namespace {

DType scalar_dtype(DType dtype) {
  return dtype == DType::float64 ? DType::float64 : DType::float32;
}

Tensor scalar_of(double value, DType dtype) {
  return converted(View(&value, Shape{}), scalar_dtype(dtype));
}

double grad_output_of(const GradientPass& pass) { return element_as_double(pass.grad_output(), 0); }

Tensor full_of(double value, DType dtype, const Shape& shape) {
  Tensor full(dtype, shape);
  visit_computed(dtype, [&](auto zero) {
    using T = decltype(zero);
    T filling;
    copy_elements(View(&value, Shape{}), MutableView(&filling, Shape{}));
    T* const out = full.data<T>();
    for_each_chunk(full.size(), resolve_threads(0), [&](std::int64_t first, std::int64_t count) {
      std::fill_n(out + first, count, filling);
    });
  });
  return full;
}

Tensor scaled(const View& x, double factor) {
  Tensor out(x.dtype(), x.shape());
  visit_computed(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto scale = std::get<kernels::ScaleElements<T>>(kernels::elementwise_kernels().scale);
    const T* const in = static_cast<const T*>(x.data());
    T* const to = out.data<T>();
    for_each_chunk(out.size(), resolve_threads(0), [&](std::int64_t first, std::int64_t count) {
      scale(in + first, factor, count, to + first);
    });
  });
  return out;
}

// share * the sum of all elements.
Variable share_of_sum(const char* operation, const Variable& x, double share) {
  check_operand(OperatorChecks(operation), "x", x);
  return record(operation, scalar_of(share * sum_of(x.value()), x.dtype()), {x},
                [share, dtype = x.dtype(), shape = x.shape()](GradientPass& pass) {
                  pass_on(pass, 0, full_of(share * grad_output_of(pass), dtype, shape));
                });
}

// A mean over nothing has no value.
double one_over_size(const char* operation, const Variable& x) {
  check_operand(OperatorChecks(operation), "x", x);
  if (x.size() == 0) {
    OperatorChecks(operation).refuse(told("x", x) + " has no elements to take the mean of");
  }
  return 1.0 / static_cast<double>(x.size());
}

}  // namespace

Variable sum(const Variable& x) { return share_of_sum("sum", x, 1); }

Variable mean(const Variable& x) { return share_of_sum("mean", x, one_over_size("mean", x)); }

Variable mean_square(const Variable& x) {
  const double share = one_over_size("mean_square", x);
  Tensor result = scalar_of(share * sum_of_products(x.value(), x.value()), x.dtype());
  if (!is_recording({&x})) return Variable(std::move(result));
  return record("mean_square", std::move(result), {x}, [share, x = Saved(x)](GradientPass& pass) {
    pass_on(pass, 0, scaled(x.view("mean_square"), 2 * share * grad_output_of(pass)));
  });
}

Variable dot(const Variable& a, const Variable& b) {
  const OperatorChecks checks("dot");
  check_operand(checks, "a", a);
  check_operand(checks, "b", b);
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) {
    checks.refuse(told("a", a) + " and " + told("b", b) + " must have one shape and dtype");
  }
  Tensor result = scalar_of(sum_of_products(a.value(), b.value()), a.dtype());
  if (!is_recording({&a, &b})) return Variable(std::move(result));
  return record("dot", std::move(result), {a, b},
                [for_a = a.requires_grad() ? Saved(b) : Saved(),
                 for_b = b.requires_grad() ? Saved(a) : Saved()](GradientPass& pass) {
                  const double factor = grad_output_of(pass);
                  if (pass.wants(0)) pass_on(pass, 0, scaled(for_a.view("dot"), factor));
                  if (pass.wants(1)) pass_on(pass, 1, scaled(for_b.view("dot"), factor));
                });
}

}  // namespace volvelle
