#pragma once

#include <string>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/nn/stack.h"
#include "volvelle/training/schedule.h"
#include "volvelle/training/trainer.h"

namespace volvelle {

/// What one should know of a run before it goes on, in whole sentences; none: nothing speaks
/// against it. So far: norms on the stream itself (post-norm, unless with DeepNorm's factors)
/// without a warm-up, and then, from a report with figures of parameters, gradient norms layer by
/// layer. Throws InvalidArgument for an unknown placement. Source: Xiong et al. 2020,
/// arXiv:2002.04745.
VOLVELLE_API std::vector<std::string> training_remarks(const StackOptions& stack,
                                                       const ScheduleOptions& schedule,
                                                       const StepReport* report = nullptr);

}  // namespace volvelle
