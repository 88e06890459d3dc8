#include "volvelle/attention/attend.h"

#include "attention/attend_resolved.h"
#include "attention/composed.h"
#include "attention/fused.h"
#include "attention/oracle.h"
#include "attention/paged_rows.h"
#include "attention/path.h"
#include "attention/resolved.h"
#include "base/thread_pool.h"

namespace volvelle {
namespace {

// A shape on the problem's four axes, cut to the axes that q has: (H,T,E) for rank 3.
Shape trimmed(const Shape& full, int rank) {
  Shape shape;
  for (int axis = full.rank() - rank; axis < full.rank(); ++axis) shape.push_back(full[axis]);
  return shape;
}

}  // namespace

void attend_resolved(const ResolvedAttention& problem, const ResolvedOutputs& outputs,
                     const AttentionOptions& options) {
  const int threads = resolve_threads(options.threads);
  const AttentionPath path = choose_path(problem, options.path);
  if (path == AttentionPath::fused) return attend_fused(problem, outputs, threads);
  if (problem.paged != nullptr) {
    return attend_resolved(GatheredTokens(problem).problem, outputs,
                           {.path = path, .threads = threads});
  }
  if (path == AttentionPath::oracle) return attend_oracle(problem, outputs);
  attend_composed(problem, outputs, threads);
}

AttentionResult result_for(const ResolvedAttention& problem, const AttentionRequest& request) {
  const std::int64_t b = problem.batch;
  const std::int64_t h = problem.heads;
  const DType statistics = problem.dtype == DType::float64 ? DType::float64 : DType::float32;
  const int rank = problem.rank;
  AttentionResult result;
  result.output =
      Tensor(problem.dtype, trimmed({b, h, problem.queries, problem.value_width}, rank));
  const Shape rows = trimmed({b, h, problem.queries}, rank - 1);
  if (request.lse) result.lse = Tensor(statistics, rows);
  if (request.entropy) result.entropy = Tensor(statistics, rows);
  if (request.column_sums) {
    result.column_sums = Tensor(statistics, trimmed({b, h, problem.keys}, rank - 1));
  }
  return result;
}

AttentionOutputs outputs_of(AttentionResult& result) {
  return {.output = result.output.mutable_view(),
          .lse = result.lse.mutable_view(),
          .entropy = result.entropy.mutable_view(),
          .column_sums = result.column_sums.mutable_view()};
}

void attend(const AttentionProblem& problem, const AttentionOutputs& outputs,
            const AttentionOptions& options) {
  const ResolvedAttention resolved = resolve(problem);
  attend_resolved(resolved, resolve_outputs(resolved, problem, outputs), options);
}

AttentionResult attend(const AttentionProblem& problem, const AttentionRequest& request,
                       const AttentionOptions& options) {
  const ResolvedAttention resolved = resolve(problem);
  AttentionResult result = result_for(resolved, request);
  attend_resolved(resolved, resolve_outputs(resolved, problem, outputs_of(result)), options);
  return result;
}

}  // namespace volvelle
