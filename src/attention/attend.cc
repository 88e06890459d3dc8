#include "volvelle/attention/attend.h"

#include "attention/composed.h"
#include "attention/fused.h"
#include "attention/oracle.h"
#include "attention/path.h"
#include "attention/resolved.h"
#include "base/thread_pool.h"

namespace volvelle {
namespace {

void run(const ResolvedAttention& problem, const ResolvedOutputs& outputs,
         const AttentionOptions& options) {
  const int threads = resolve_threads(options.threads);
  switch (choose_path(problem, options.path)) {
    case AttentionPath::oracle:
      return attend_oracle(problem, outputs);
    case AttentionPath::composed:
      return attend_composed(problem, outputs, threads);
    case AttentionPath::automatic:
    case AttentionPath::fused:
      return attend_fused(problem, outputs, threads);
  }
}

// A shape on the problem's four axes, cut to the axes that q has: (H,T,E) for rank 3.
Shape trimmed(const Shape& full, int rank) {
  Shape shape;
  for (int axis = full.rank() - rank; axis < full.rank(); ++axis) shape.push_back(full[axis]);
  return shape;
}

}  // namespace

void attend(const AttentionProblem& problem, const AttentionOutputs& outputs,
            const AttentionOptions& options) {
  const ResolvedAttention resolved = resolve(problem);
  run(resolved, resolve_outputs(resolved, problem, outputs), options);
}

AttentionResult attend(const AttentionProblem& problem, const AttentionRequest& request,
                       const AttentionOptions& options) {
  const ResolvedAttention resolved = resolve(problem);
  const std::int64_t b = resolved.batch;
  const std::int64_t h = resolved.heads;
  const DType statistics = resolved.dtype == DType::float64 ? DType::float64 : DType::float32;
  const int rank = resolved.rank;
  AttentionResult result;
  result.output =
      Tensor(resolved.dtype, trimmed({b, h, resolved.queries, resolved.value_width}, rank));
  const Shape rows = trimmed({b, h, resolved.queries}, rank - 1);
  if (request.lse) result.lse = Tensor(statistics, rows);
  if (request.entropy) result.entropy = Tensor(statistics, rows);
  if (request.column_sums) {
    result.column_sums = Tensor(statistics, trimmed({b, h, resolved.keys}, rank - 1));
  }
  const AttentionOutputs outputs{.output = result.output.mutable_view(),
                                 .lse = result.lse.mutable_view(),
                                 .entropy = result.entropy.mutable_view(),
                                 .column_sums = result.column_sums.mutable_view()};
  run(resolved, resolve_outputs(resolved, problem, outputs), options);
  return result;
}

}  // namespace volvelle
