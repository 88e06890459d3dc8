#pragma once

#include <cstdint>
#include <vector>

#include "ops/checks.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// Labels in row-major order. Throws InvalidArgument unless they are there and integers.
std::vector<std::int64_t> label_numbers(const OperatorChecks& checks, const View& labels);

/// The same, with what does not count as -1. Throws InvalidArgument for a label outside
/// [0, classes), naming its place.
std::vector<std::int64_t> class_labels(const OperatorChecks& checks, const View& labels,
                                       std::int64_t classes, std::int64_t ignore_index);

}  // namespace volvelle
