#pragma once

#include <string>
#include <vector>

#include "studies/attention_times.h"

namespace volvelle {

/// Attention over a window of keys: its ratio to the projections does not grow.
StudyControl windowed_control(const AttentionCostOptions& options);

std::vector<std::string> attention_cost_reading(const AttentionCostOptions& options,
                                                const MeasuredCosts& measured);

}  // namespace volvelle
