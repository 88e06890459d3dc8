#include "ops/class_labels.h"

#include "ops/integer_values.h"

namespace volvelle {

std::vector<std::int64_t> label_numbers(const OperatorChecks& checks, const View& labels) {
  return integer_values(checks, "labels", labels, "the index of each row's class");
}

std::vector<std::int64_t> class_labels(const OperatorChecks& checks, const View& labels,
                                       std::int64_t classes, std::int64_t ignore_index) {
  std::vector<std::int64_t> values = label_numbers(checks, labels);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == ignore_index) {
      values[i] = -1;
    } else if (values[i] < 0 || values[i] >= classes) {
      checks.refuse("label " + std::to_string(values[i]) + " at " +
                    place_of(static_cast<std::int64_t>(i), labels.shape()) + " of labels " +
                    to_string(labels.shape()) + " is outside [0, " + std::to_string(classes) +
                    "), the classes of logits; rows that shall not count are labelled "
                    "ignore_index=" +
                    std::to_string(ignore_index));
    }
  }
  return values;
}

}  // namespace volvelle
