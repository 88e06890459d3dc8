#include "ops/checks.h"

#include "tensor/overlap.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

bool fits_63_bits(const View& view) {
  std::int64_t reach = 1;  // farthest element from the first, plus one, counted both ways
  for (int axis = 0; axis < view.rank(); ++axis) {
    const std::int64_t stride = view.shape()[axis] == 1 ? 0 : view.strides()[axis];
    std::int64_t span = 0;
    if (stride == INT64_MIN ||
        __builtin_mul_overflow(view.shape()[axis] - 1, stride < 0 ? -stride : stride, &span) ||
        __builtin_add_overflow(reach, span, &reach)) {
      return false;
    }
  }
  return reach <= INT64_MAX / static_cast<std::int64_t>(size_of(view.dtype()));
}

}  // namespace

std::string named_shape(const char* name, const View& view) {
  return std::string(name) + " " + to_string(view.shape());
}

std::int64_t stride_from_end(const View& view, int axis) {
  const int place = view.rank() + axis;
  return view.shape()[place] == 1 ? 0 : view.strides()[place];
}

void OperatorChecks::refuse(const std::string& text) const {
  throw InvalidArgument("[" + std::string(operation_) + "] " + text);
}

void OperatorChecks::floats(const char* name, const View& view) const {
  if (!view) refuse(std::string(name) + " is missing");
  if (!is_floating(view.dtype())) {
    refuse(std::string(name) + " is " + std::string(name_of(view.dtype())) +
           "; it must be float32, float64, bfloat16 or float16");
  }
  bool empty = false;
  for (const std::int64_t length : view.shape()) {
    if (length < 0) refuse(named_shape(name, view) + " has a negative axis");
    empty = empty || length == 0;
  }
  if (empty) return;
  std::int64_t count = 1;
  for (const std::int64_t length : view.shape()) {
    if (__builtin_mul_overflow(count, length, &count)) {
      refuse(named_shape(name, view) + " has more elements than 63 bits count");
    }
  }
  if (view.data() == nullptr) {
    refuse(named_shape(name, view) + " has elements but its pointer is null");
  }
  if (!fits_63_bits(view)) {
    refuse(named_shape(name, view) + " with strides " + to_string(view.strides()) +
           " reaches beyond 63 bits of bytes");
  }
}

void OperatorChecks::written(const char* name, const MutableView& view) const {
  floats(name, view);
  if (!provably_injective(view)) {
    refuse(named_shape(name, view) + " with strides " + to_string(view.strides()) +
           " would be written over itself; give it strides under which no two elements meet");
  }
}

void OperatorChecks::same_width(const char* name, const View& view, const char* other_name,
                                const View& other) const {
  if (!view || !other) return;
  if ((view.dtype() == DType::float64) == (other.dtype() == DType::float64)) return;
  refuse(std::string(name) + " is " + std::string(name_of(view.dtype())) + " and " + other_name +
         " is " + std::string(name_of(other.dtype())) +
         "; float64 meets only float64: convert one of them");
}

void OperatorChecks::rank(const char* name, const View& view, int least, const char* axes) const {
  if (view.rank() >= least) return;
  refuse(named_shape(name, view) + " must have shape " + axes);
}

void OperatorChecks::shape(const char* name, const View& view, const Shape& wanted,
                           const char* axes) const {
  if (view.shape() == wanted) return;
  refuse(named_shape(name, view) + " must have shape " + axes + " = " + to_string(wanted));
}

void OperatorChecks::apart(const char* output_name, const MutableView& output,
                           const char* input_name, const View& input) const {
  if (!input || !byte_range(output).meets(byte_range(input))) return;
  if (provably_disjoint(output, input)) return;
  refuse(std::string(output_name) + " overlaps " + input_name +
         " in memory; give it an array of its own");
}

}  // namespace volvelle
