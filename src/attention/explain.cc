#include "attention/attend_resolved.h"
#include "attention/fused.h"
#include "attention/path.h"
#include "attention/resolved.h"
#include "base/thread_pool.h"
#include "volvelle/attention/attend.h"
#include "volvelle/attention/simd.h"

namespace volvelle {

AttentionPlan plan_for(const ResolvedAttention& resolved, const AttentionOptions& options) {
  const int threads = resolve_threads(options.threads);
  AttentionPlan plan;
  plan.path = choose_path(resolved, options.path, &plan.reason);
  plan.scale = resolved.scale;
  plan.batch = resolved.batch;
  plan.heads = resolved.heads;
  plan.key_heads = resolved.key_heads;
  plan.queries = resolved.queries;
  plan.keys = resolved.keys;
  plan.head_width = resolved.width;
  plan.value_width = resolved.value_width;
  if (plan.path == AttentionPath::fused) {
    plan.simd = simd_target();
    plan.tiles = count_tiles(resolved, threads);
  } else {
    plan.simd = plan.path == AttentionPath::oracle ? "double loops" : "plain loops";
  }
  return plan;
}

AttentionPlan explain(const AttentionProblem& problem, const AttentionOptions& options) {
  return plan_for(resolve(problem), options);
}

}  // namespace volvelle
