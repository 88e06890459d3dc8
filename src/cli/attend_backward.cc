#include "cli/attend_backward.h"

#include <utility>

#include "cli/call_timer.h"
#include "cli/view_axes.h"

namespace volvelle::cli {
namespace {

// Memory for the gradient of one array of the problem, in the order of the input's axes; the view
// of it has the problem's.
MutableView place(Tensor& tensor, const View& of, Layout layout = Layout::bhtd) {
  if (!of) return {};
  const int rank = of.rank();
  const bool swap = layout == Layout::bthd && rank >= 3;
  Shape shape = of.shape();
  if (swap) std::swap(shape[rank - 3], shape[rank - 2]);
  tensor = Tensor(of.dtype(), shape);
  const MutableView view = tensor.mutable_view();
  return swap ? swapped(view, rank - 3, rank - 2) : view;
}

}  // namespace

BackwardRun run_backward(const AttendInputs& inputs, const AttentionSaved& saved,
                         const AttentionOptions& options) {
  BackwardRun run;
  const AttentionProblem& problem = inputs.problem;
  run.plan = explain_backward(problem, saved, inputs.grad_output, options);
  AttentionGradientResult& own = run.gradients;
  const AttentionGradients gradients{
      .q = place(own.q, problem.q, inputs.layout),
      .k = place(own.k, problem.k, inputs.layout),
      .v = place(own.v, problem.v, inputs.layout),
      .bias = place(own.bias, problem.bias),
      .slopes = place(own.slopes, problem.slopes),
      .bias_table = place(own.bias_table, problem.bias_table),
      .bucket_table = place(own.bucket_table, problem.bucket_table),
      .sinks = place(own.sinks, problem.sinks),
      .relative_keys = place(own.relative_keys, problem.relative_keys),
      .relative_queries = place(own.relative_queries, problem.relative_queries),
      .relative_values = place(own.relative_values, problem.relative_values),
  };
  const auto call = [&] {
    attend_backward(problem, saved, inputs.grad_output, gradients, options);
  };
  run.q_bhtd = with_rank(gradients.q, 4);
  run.k_bgsd = with_rank(gradients.k, 4);
  run.v_bgse = with_rank(gradients.v, 4);
  const CallTime time = timed_calls(call, call);
  run.milliseconds = time.milliseconds;
  run.calls = time.calls;
  return run;
}

std::vector<NamedGradient> named(const AttentionGradientResult& gradients) {
  const NamedGradient all[] = {
      {"grad_q", gradients.q},
      {"grad_k", gradients.k},
      {"grad_v", gradients.v},
      {"grad_bias", gradients.bias},
      {"grad_slopes", gradients.slopes},
      {"grad_sinks", gradients.sinks},
      {"grad_bias_table", gradients.bias_table},
      {"grad_bucket_table", gradients.bucket_table},
      {"grad_relative_keys", gradients.relative_keys},
      {"grad_relative_queries", gradients.relative_queries},
      {"grad_relative_values", gradients.relative_values},
  };
  std::vector<NamedGradient> present;
  for (const NamedGradient& one : all) {
    if (one.array) present.push_back(one);
  }
  return present;
}

}  // namespace volvelle::cli
