#include "check/properties/gradient_oracle.h"

#include "attention/resolved_backward.h"

namespace volvelle::properties {

AttentionGradientResult oracle_gradients(const AttentionProblem& problem, const View& grad_output,
                                         BackwardFault fault, GradientSum sum) {
  const ResolvedAttention r = resolve(problem);
  const DType computing = r.dtype == DType::float64 ? DType::float64 : DType::float32;
  const auto like = [&](const View& view) {
    return view ? Tensor(computing, view.shape()) : Tensor();
  };
  AttentionGradientResult result{.q = like(problem.q),
                                 .k = like(problem.k),
                                 .v = like(problem.v),
                                 .bias = like(problem.bias),
                                 .slopes = like(problem.slopes),
                                 .bias_table = like(problem.bias_table),
                                 .bucket_table = like(problem.bucket_table),
                                 .sinks = like(problem.sinks),
                                 .relative_keys = like(problem.relative_keys),
                                 .relative_queries = like(problem.relative_queries),
                                 .relative_values = like(problem.relative_values)};
  const AttentionGradients views{.q = result.q.mutable_view(),
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
  // The oracle computes what was saved anew; only the shapes are looked at.
  const Tensor output = Tensor::zeros(r.dtype, {r.batch, r.heads, r.queries, r.value_width});
  const Tensor lse = Tensor::zeros(computing, {r.batch, r.heads, r.queries});
  attend_backward_oracle(
      r, resolve_backward(r, problem, {output.view(), lse.view()}, grad_output, views), fault, sum);
  return result;
}

}  // namespace volvelle::properties
