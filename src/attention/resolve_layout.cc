#include "attention/resolve_layout.h"

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

std::int64_t stride_of(const View& view, int axis) {
  return view.shape()[axis] == 1 ? 0 : view.strides()[axis];
}

bool fits_63_bits(const View& view) {
  std::int64_t reach = 1;  // farthest element from the first, plus one, counted both ways
  for (int axis = 0; axis < view.rank(); ++axis) {
    std::int64_t span = 0;
    const std::int64_t stride = stride_of(view, axis);
    if (stride == INT64_MIN) return false;
    if (__builtin_mul_overflow(view.shape()[axis] - 1, stride < 0 ? -stride : stride, &span) ||
        __builtin_add_overflow(reach, span, &reach)) {
      return false;
    }
  }
  return reach <= INT64_MAX / static_cast<std::int64_t>(size_of(view.dtype()));
}

Strided2 started2(const View& view) {
  Strided2 laid;
  laid.data = view.data();
  laid.dtype = view.dtype();
  laid.present = true;
  return laid;
}

[[noreturn]] void refuse_shape(const NamedView& array, const std::string& wanted) {
  refuse(described(array.name, array.view) + " must have shape " + wanted, array.operation);
}

}  // namespace

void refuse(const std::string& text, const char* operation) {
  throw InvalidArgument("[" + std::string(operation) + "] " + text);
}

std::string described(const char* name, const View& view) {
  return std::string(name) + " " + to_string(view.shape());
}

void check_memory(const NamedView& array) {
  const View& view = array.view;
  bool empty = false;
  for (const std::int64_t length : view.shape()) {
    if (length < 0) refuse(described(array.name, view) + " has a negative axis", array.operation);
    empty = empty || length == 0;
  }
  if (empty) return;
  if (view.data() == nullptr) {
    refuse(described(array.name, view) + " has elements but its pointer is null", array.operation);
  }
  if (!fits_63_bits(view)) {
    refuse(described(array.name, view) + " with strides " + to_string(view.strides()) +
               " reaches beyond 63 bits of bytes",
           array.operation);
  }
}

void check_floating(const NamedView& array) {
  if (is_floating(array.view.dtype())) return;
  refuse(std::string(array.name) + " is " + std::string(name_of(array.view.dtype())) +
             "; it must be float32, float64, float16 or bfloat16",
         array.operation);
}

void check_integer(const NamedView& array) {
  if (is_integer(array.view.dtype())) return;
  refuse(std::string(array.name) + " is " + std::string(name_of(array.view.dtype())) +
             "; it must be of an integer type",
         array.operation);
}

Strided4 on_four_axes(const NamedView& array, std::int64_t shape[4]) {
  const View& view = array.view;
  Strided4 laid;
  laid.data = view.data();
  laid.dtype = view.dtype();
  laid.present = true;
  const int missing = 4 - view.rank();
  for (int axis = 0; axis < 4; ++axis) {
    shape[axis] = axis < missing ? 1 : view.shape()[axis - missing];
    laid.stride[axis] = axis < missing ? 0 : stride_of(view, axis - missing);
  }
  return laid;
}

Strided4 broadcast_to(const NamedView& array, const std::int64_t shape[4]) {
  const View& view = array.view;
  check_memory(array);
  const auto mismatch = [&] {
    refuse(described(array.name, view) + " does not broadcast to (B,H,T,S) = " +
           to_string(Shape{shape[0], shape[1], shape[2], shape[3]}) +
           "; axes are matched from the right and each must be equal or 1");
  };
  if (view.rank() > 4) mismatch();
  std::int64_t own[4];
  Strided4 laid = on_four_axes(array, own);
  for (int axis = 0; axis < 4; ++axis) {
    if (own[axis] != shape[axis] && own[axis] != 1) mismatch();
  }
  return laid;
}

Strided2 one_per(const NamedView& array, char axis, std::int64_t count) {
  const View& view = array.view;
  check_memory(array);
  if (view.rank() != 1 || view.shape()[0] != count) {
    refuse_shape(array, std::string("(") + axis + ") = (" + std::to_string(count) + ",)");
  }
  Strided2 laid = started2(view);
  laid.shape[0] = count;
  laid.shape[1] = 1;
  laid.stride[0] = stride_of(view, 0);
  return laid;
}

Strided2 table_of(const NamedView& array, std::int64_t rows) {
  const View& view = array.view;
  check_memory(array);
  if (view.rank() != 2 || view.shape()[0] != rows) {
    refuse_shape(array, "(H, entries) with H = " + std::to_string(rows));
  }
  Strided2 laid = started2(view);
  for (int axis = 0; axis < 2; ++axis) {
    laid.shape[axis] = view.shape()[axis];
    laid.stride[axis] = stride_of(view, axis);
  }
  return laid;
}

Strided2 per_row(const NamedView& array, std::int64_t batch, char axis, std::int64_t length) {
  const View& view = array.view;
  check_memory(array);
  const int last = view.rank() - 1;
  const bool fits = (view.rank() == 1 || view.rank() == 2) && view.shape()[last] == length &&
                    (last == 0 || view.shape()[0] == batch || view.shape()[0] == 1);
  if (!fits) {
    refuse_shape(array, std::string("(B,") + axis + ") = " + to_string(Shape{batch, length}));
  }
  Strided2 laid = started2(view);
  laid.shape[0] = batch;
  laid.shape[1] = length;
  laid.stride[0] = last == 0 ? 0 : stride_of(view, 0);
  laid.stride[1] = stride_of(view, last);
  return laid;
}

}  // namespace volvelle
