#include "ops/integer_values.h"

#include <algorithm>
#include <limits>

namespace volvelle {

std::vector<std::int64_t> integer_values(const OperatorChecks& checks, const char* name,
                                         const View& view, const char* meaning) {
  if (!view) checks.refuse(std::string(name) + " are missing");
  if (!is_integer(view.dtype())) {
    checks.refuse(std::string(name) + " are " + std::string(name_of(view.dtype())) +
                  "; they must be integers, " + meaning);
  }
  const std::int64_t count = element_count(view.shape(), name);
  if (view.data() == nullptr && count > 0) {
    checks.refuse(named_shape(name, view) + " has elements but its pointer is null");
  }
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  if (values.empty()) return values;
  if (view.dtype() == DType::uint64) {  // what int64 cannot hold must not turn into a small one
    constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const Tensor flat = copy_of(view);
    const std::uint64_t* from = flat.data<std::uint64_t>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<std::int64_t>(std::min(from[i], kLargest));
    }
    return values;
  }
  const Tensor flat = converted(view, DType::int64);
  std::copy_n(flat.data<std::int64_t>(), values.size(), values.begin());
  return values;
}

Tensor integer_tensor(const OperatorChecks& checks, const char* name, const View& view,
                      const char* meaning) {
  const std::vector<std::int64_t> values = integer_values(checks, name, view, meaning);
  Tensor made(DType::int64, view.shape());
  std::copy(values.begin(), values.end(), made.data<std::int64_t>());
  return made;
}

std::string place_of(std::int64_t index, const Shape& shape) {
  Axes at = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    at[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return to_string(at);
}

}  // namespace volvelle
