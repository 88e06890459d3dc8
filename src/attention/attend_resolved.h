#pragma once

#include "attention/resolved.h"
#include "volvelle/attention/attend.h"

namespace volvelle {

/// Computes a problem that was checked, on the path that takes it. Throws as `attend`.
void attend_resolved(const ResolvedAttention& problem, const ResolvedOutputs& outputs,
                     const AttentionOptions& options);

/// Arrays for what is asked for, in q's rank.
AttentionResult result_for(const ResolvedAttention& problem, const AttentionRequest& request);

AttentionOutputs outputs_of(AttentionResult& result);

/// What attend_resolved() would do.
AttentionPlan plan_for(const ResolvedAttention& problem, const AttentionOptions& options);

}  // namespace volvelle
