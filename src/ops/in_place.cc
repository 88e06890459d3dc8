#include "volvelle/ops/in_place.h"

#include <string>

#include "kernels/elementwise.h"
#include "ops/checks.h"
#include "ops/computed_types.h"
#include "ops/leading_axes.h"
#include "ops/runs.h"
#include "tensor/overlap.h"

namespace volvelle {
namespace {

constexpr OperatorChecks kAdd("add_into");
constexpr OperatorChecks kScale("scale_in_place");

void check_written(const OperatorChecks& checks, const char* name, const MutableView& view) {
  if (!view) checks.refuse(std::string(name) + " is missing");
  if (!is_computed(view.dtype())) {
    checks.refuse(std::string(name) + " is " + std::string(name_of(view.dtype())) +
                  "; it must be float32, bfloat16 or float64");
  }
  if (provably_injective(view)) return;
  checks.refuse(named_shape(name, view) + " with strides " + to_string(view.strides()) +
                " would be written over itself; give it strides under which no two elements meet");
}

bool is_same_array(const View& a, const View& b) {
  return a.data() == b.data() && a.dtype() == b.dtype() && a.strides() == b.strides();
}

void check_pair(const MutableView& to, const View& from) {
  check_written(kAdd, "to", to);
  if (!from) kAdd.refuse("from is missing");
  if (!visit_pair(to.dtype(), from.dtype(), [](auto, auto) {})) {
    kAdd.refuse("from is " + std::string(name_of(from.dtype())) + " and to " +
                std::string(name_of(to.dtype())) +
                "; both must be float64, or each float32 or bfloat16");
  }
  if (from.shape() != to.shape()) {
    kAdd.refuse(named_shape("from", from) + " must have the shape of " + named_shape("to", to));
  }
  if (!is_same_array(to, from)) kAdd.apart("to", to, "from", from);
}

JointAxes<2> axes_of(const View& a, const View& b) {
  JointAxes<2> axes;
  for (int axis = 0; axis < a.rank(); ++axis) {
    axes.add(a.shape()[axis], {stride_of(a, axis), stride_of(b, axis)});
  }
  return axes;
}

}  // namespace

void add_into(const MutableView& to, const View& from, int threads) {
  check_pair(to, from);
  threads = resolve_threads(threads);
  visit_pair(to.dtype(), from.dtype(), [&](auto to_zero, auto from_zero) {
    using To = decltype(to_zero);
    using From = decltype(from_zero);
    const auto add = std::get<kernels::AddElements<To, From>>(kernels::elementwise_kernels().add);
    To* const out = static_cast<To*>(to.data());
    const From* const in = static_cast<const From*>(from.data());
    for_each_run(axes_of(to, from), threads, [&](const auto& at, std::int64_t count) {
      add(out + at[0], in + at[1], count, out + at[0]);
    });
  });
}

void scale_in_place(const MutableView& x, double factor, int threads) {
  check_written(kScale, "x", x);
  threads = resolve_threads(threads);
  visit_computed(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto scale = std::get<kernels::ScaleElements<T>>(kernels::elementwise_kernels().scale);
    T* const out = static_cast<T*>(x.data());
    for_each_run(axes_of(x, x), threads, [&](const auto& at, std::int64_t count) {
      scale(out + at[0], factor, count, out + at[0]);
    });
  });
}

}  // namespace volvelle
