#include "cli/attend_run.h"

#include <utility>

#include "cli/attend_backward.h"
#include "cli/call_timer.h"
#include "cli/met_rows.h"
#include "cli/view_axes.h"
#include "volvelle/base/threads.h"

namespace volvelle::cli {
namespace {

// Leading axes as q has them, then what each array ends with.
Shape shape_like(const AttentionPlan& plan, int rank, std::initializer_list<std::int64_t> end) {
  Shape shape;
  if (rank >= 4) shape.push_back(plan.batch);
  if (rank >= 3) shape.push_back(plan.heads);
  for (const std::int64_t size : end) shape.push_back(size);
  return shape;
}

}  // namespace

AttentionOptions attention_options(const AttendOptions& options) {
  AttentionOptions result;
  if (options.path == "fused") result.path = AttentionPath::fused;
  if (options.path == "composed") result.path = AttentionPath::composed;
  if (options.path == "oracle") result.path = AttentionPath::oracle;
  result.threads = static_cast<int>(options.threads.value_or(0));
  return result;
}

AttendRun run_attention(const AttendInputs& inputs, const AttentionOptions& options,
                        const AttendWishes& wishes) {
  AttendRun run;
  const AttentionProblem& problem = inputs.problem;
  run.plan = explain(problem, options);
  run.threads = options.threads > 0 ? options.threads : threads();
  const AttentionPlan& plan = run.plan;
  const DType dtype = problem.q.dtype();
  const DType wide = dtype == DType::float64 ? DType::float64 : DType::float32;
  const int rank = problem.q.rank();

  const bool swap = inputs.layout == Layout::bthd && rank >= 3;
  Shape shape = shape_like(plan, rank, {plan.queries, plan.value_width});
  if (swap) std::swap(shape[rank - 3], shape[rank - 2]);
  run.result.output = Tensor(dtype, shape);
  MutableView output = run.result.output.mutable_view();
  if (swap) output = swapped(output, rank - 3, rank - 2);
  run.output_bhte = with_rank(output, 4);
  run.result.lse = Tensor(wide, shape_like(plan, rank, {plan.queries}));
  if (wishes.entropy) run.result.entropy = Tensor(wide, run.result.lse.shape());
  if (wishes.column_sums)
    run.result.column_sums = Tensor(wide, shape_like(plan, rank, {plan.keys}));

  const AttentionOutputs outputs{.output = output,
                                 .lse = run.result.lse.mutable_view(),
                                 .entropy = run.result.entropy.mutable_view(),
                                 .column_sums = run.result.column_sums.mutable_view()};
  // Entropies and the like are not asked of attention itself: the plain operation is timed.
  const AttentionOutputs plain{.output = output, .lse = outputs.lse};
  const CallTime time = timed_calls([&] { attend(problem, outputs, options); },
                                    [&] { attend(problem, plain, options); });
  run.milliseconds = time.milliseconds;
  run.calls = time.calls;
  if (wishes.steps) {
    run.steps = attention_steps(problem);
    if (problem.rotary) run.turned_q = turned_rows(problem, plan, MetSide::queries);
    if (problem.rotary) run.turned_k = turned_rows(problem, plan, MetSide::keys);
  }
  if (inputs.grad_output) {
    run.backward = run_backward(inputs, {.output = output, .lse = outputs.lse}, options);
    if (wishes.steps)
      run.backward->steps = attention_backward_steps(problem, *run.steps, inputs.grad_output);
  }
  return run;
}

}  // namespace volvelle::cli
