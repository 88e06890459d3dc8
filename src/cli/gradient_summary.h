#pragma once

#include <string>

#include "cli/attend_inputs.h"
#include "cli/attend_run.h"

namespace volvelle::cli {

/// Every gradient in a line: shape, norm, largest entry; and how long they took.
std::string gradient_summary(const AttendInputs& inputs, const AttendRun& run, int digits);

/// The entries of those that heads or queries share, for a small problem whose heads have been
/// shown step by step: key heads that several query heads read, biases, slopes, sinks, tables.
std::string shared_gradients(const AttendRun& run, int digits);

}  // namespace volvelle::cli
