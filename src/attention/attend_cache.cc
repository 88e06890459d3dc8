#include "attention/attend_resolved.h"
#include "attention/paged_rows.h"
#include "volvelle/attention/key_value_cache.h"

namespace volvelle {

void attend(const AttentionProblem& problem, const KeyValueCache& cache,
            std::span<const Sequence> sequences, const AttentionOutputs& outputs,
            const AttentionOptions& options) {
  PagedRows rows;
  const ResolvedAttention resolved = resolve(problem, cache, sequences, rows);
  attend_resolved(resolved, resolve_outputs(resolved, problem, outputs), options);
}

AttentionResult attend(const AttentionProblem& problem, const KeyValueCache& cache,
                       std::span<const Sequence> sequences, const AttentionRequest& request,
                       const AttentionOptions& options) {
  PagedRows rows;
  const ResolvedAttention resolved = resolve(problem, cache, sequences, rows);
  AttentionResult result = result_for(resolved, request);
  attend_resolved(resolved, resolve_outputs(resolved, problem, outputs_of(result)), options);
  return result;
}

AttentionPlan explain(const AttentionProblem& problem, const KeyValueCache& cache,
                      std::span<const Sequence> sequences, const AttentionOptions& options) {
  PagedRows rows;
  return plan_for(resolve(problem, cache, sequences, rows), options);
}

}  // namespace volvelle
