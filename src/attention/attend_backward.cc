#include "volvelle/attention/attend_backward.h"

#include "attention/backward_path.h"
#include "attention/composed_backward.h"
#include "attention/fused_backward.h"
#include "attention/oracle_backward.h"
#include "attention/resolved_backward.h"
#include "base/thread_pool.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

void run(const ResolvedAttention& problem, const ResolvedBackward& backward,
         const AttentionOptions& options) {
  const int threads = resolve_threads(options.threads);
  const AttentionPath path = choose_backward_path(problem, backward, options.path);
  check_saved(problem, backward);
  if (!backward.any_wanted()) return;
  switch (path) {
    case AttentionPath::oracle:
      return attend_backward_oracle(problem, backward);
    case AttentionPath::composed:
      return attend_backward_composed(problem, backward, threads);
    case AttentionPath::automatic:
    case AttentionPath::fused:
      return attend_backward_fused(problem, backward, threads);
  }
}

Tensor like(const View& array, bool wanted) {
  return wanted && array ? Tensor(array.dtype(), array.shape()) : Tensor();
}

}  // namespace

void attend_backward(const AttentionProblem& problem, const AttentionSaved& saved,
                     const View& grad_output, const AttentionGradients& gradients,
                     const AttentionOptions& options) {
  const ResolvedAttention resolved = resolve(problem);
  run(resolved, resolve_backward(resolved, problem, saved, grad_output, gradients), options);
}

AttentionGradientResult attend_backward(const AttentionProblem& problem,
                                        const AttentionSaved& saved, const View& grad_output,
                                        const AttentionGradientRequest& request,
                                        const AttentionOptions& options) {
  const ResolvedAttention resolved = resolve(problem);
  AttentionGradientResult result{
      .q = like(problem.q, request.q),
      .k = like(problem.k, request.k),
      .v = like(problem.v, request.v),
      .bias = like(problem.bias, request.bias),
      .slopes = like(problem.slopes, request.slopes),
      .bias_table = like(problem.bias_table, request.bias_table),
      .bucket_table = like(problem.bucket_table, request.bucket_table),
      .sinks = like(problem.sinks, request.sinks),
      .relative_keys = like(problem.relative_keys, request.relative_keys),
      .relative_queries = like(problem.relative_queries, request.relative_queries),
      .relative_values = like(problem.relative_values, request.relative_values)};
  const AttentionGradients gradients{.q = result.q.mutable_view(),
                                     .k = result.k.mutable_view(),
                                     .v = result.v.mutable_view(),
                                     .bias = result.bias.mutable_view(),
                                     .slopes = result.slopes.mutable_view(),
                                     .bias_table = result.bias_table.mutable_view(),
                                     .bucket_table = result.bucket_table.mutable_view(),
                                     .sinks = result.sinks.mutable_view(),
                                     .relative_keys = result.relative_keys.mutable_view(),
                                     .relative_queries = result.relative_queries.mutable_view(),
                                     .relative_values = result.relative_values.mutable_view()};
  run(resolved, resolve_backward(resolved, problem, saved, grad_output, gradients), options);
  return result;
}

}  // namespace volvelle
