#include "ops/class_labels.h"

#include <algorithm>
#include <limits>

#include "volvelle/tensor/tensor.h"

namespace volvelle {
namespace {

// "(1,3)": where the element of this row-major index stands.
std::string place(std::int64_t index, const Shape& shape) {
  Axes at = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    at[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return to_string(at);
}

std::vector<std::int64_t> as_int64(const View& labels) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(element_count(labels.shape())));
  if (values.empty()) return values;
  if (labels.dtype() == DType::uint64) {  // what int64 cannot hold must not turn into a marker
    constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const Tensor flat = copy_of(labels);
    const std::uint64_t* from = flat.data<std::uint64_t>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<std::int64_t>(std::min(from[i], kLargest));
    }
    return values;
  }
  const Tensor flat = converted(labels, DType::int64);
  std::copy_n(flat.data<std::int64_t>(), values.size(), values.begin());
  return values;
}

void check(const OperatorChecks& checks, const View& labels) {
  if (!labels) checks.refuse("labels are missing");
  if (!is_integer(labels.dtype())) {
    checks.refuse("labels are " + std::string(name_of(labels.dtype())) +
                  "; they must be integers, the index of each row's class");
  }
  if (labels.data() == nullptr && element_count(labels.shape(), "labels") > 0) {
    checks.refuse(named_shape("labels", labels) + " has elements but its pointer is null");
  }
}

}  // namespace

std::vector<std::int64_t> label_numbers(const OperatorChecks& checks, const View& labels) {
  check(checks, labels);
  return as_int64(labels);
}

std::vector<std::int64_t> class_labels(const OperatorChecks& checks, const View& labels,
                                       std::int64_t classes, std::int64_t ignore_index) {
  std::vector<std::int64_t> values = label_numbers(checks, labels);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == ignore_index) {
      values[i] = -1;
    } else if (values[i] < 0 || values[i] >= classes) {
      checks.refuse("label " + std::to_string(values[i]) + " at " +
                    place(static_cast<std::int64_t>(i), labels.shape()) + " of labels " +
                    to_string(labels.shape()) + " is outside [0, " + std::to_string(classes) +
                    "), the classes of logits; rows that shall not count are labelled "
                    "ignore_index=" +
                    std::to_string(ignore_index));
    }
  }
  return values;
}

}  // namespace volvelle
