#pragma once

#include <vector>

#include "studies/attention_times.h"

namespace volvelle {

std::vector<StudyTable> attention_cost_tables(const AttentionCostOptions& options,
                                              const MeasuredCosts& measured);
std::vector<StudyChart> attention_cost_charts(const AttentionCostOptions& options,
                                              const MeasuredCosts& measured);

}  // namespace volvelle
