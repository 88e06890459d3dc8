// norm and first_non_finite: figures of arrays beside the tape.
#include <cmath>
#include <string>

#include "ops/array_sums.h"
#include "ops/checks.h"
#include "ops/computed_types.h"
#include "ops/leading_axes.h"
#include "volvelle/ops/sums.h"

namespace volvelle {
namespace {

bool is_contiguous(const View& view) {
  std::int64_t stride = 1;
  for (int axis = view.rank() - 1; axis >= 0; --axis) {
    if (view.shape()[axis] != 1 && view.strides()[axis] != stride) return false;
    stride *= view.shape()[axis];
  }
  return true;
}

// The view as a tensor of a dtype that is computed with: its own bytes, which outlive the call and
// are not written to, or a copy.
Tensor readable(const char* operation, const View& view) {
  const OperatorChecks checks(operation);
  if (!view) checks.refuse("x is missing");
  if (view.dtype() == DType::float16) return converted(view, DType::float32);
  if (!is_computed(view.dtype())) {
    checks.refuse("x is " + std::string(name_of(view.dtype())) + "; it must be floating");
  }
  if (element_count(view.shape()) > 0 && !is_contiguous(view)) return copy_of(view);
  return Tensor::adopt(nullptr, const_cast<void*>(view.data()), view.dtype(), view.shape());
}

}  // namespace

double norm(const View& x, int threads) {
  const Tensor values = readable("norm", x);
  return std::sqrt(sum_of_products(values, values, threads));
}

std::int64_t first_non_finite(const View& x, int threads) {
  return first_non_finite_of(readable("first_non_finite", x), threads);
}

}  // namespace volvelle
