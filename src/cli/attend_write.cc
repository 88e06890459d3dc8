#include "cli/attend_write.h"

#include "cli/attend_backward.h"
#include "cli/interrupt.h"
#include "cli/view_axes.h"
#include "volvelle/io/arrays.h"

namespace volvelle::cli {

void write_results(const AttendInputs& inputs, const AttendRun& run, const AttendOptions& options) {
  NamedArrays arrays;
  const auto add = [&](const char* name, const Tensor& array) {
    if (array) arrays.push_back({name, array});
  };
  const int rank = inputs.problem.q.rank();
  const auto add_step = [&](const char* name, const Tensor& array, int axes) {
    if (array)
      arrays.push_back({name, reshaped(array, without_leading(array.view(), axes).shape())});
  };
  add("output", run.result.output);
  add("lse", run.result.lse);
  if (run.backward) {
    for (const auto& [name, array] : named(run.backward->gradients)) add(name, array);
  }
  if (options.entropy) add("entropy", run.result.entropy);
  if (options.column_sums) add("column_sums", run.result.column_sums);
  if (run.steps && options.steps) {
    const AttentionSteps& steps = *run.steps;
    add_step("turned_q", run.turned_q, rank);
    add_step("turned_k", run.turned_k, rank);
    add_step("scores", steps.scores, rank);
    add_step("scaled", steps.scaled, rank);
    add_step("capped", steps.capped, rank);
    add_step("biased", steps.biased, rank);
    add_step("excluded", steps.excluded, rank);
    add_step("exponentials", steps.exponentials, rank);
    add_step("weights", steps.weights, rank);
    add_step("dropped", steps.dropped, rank);
    add_step("weights_unscaled", steps.weights_unscaled, rank);
    add_step("row_sums", steps.row_sums, rank - 1);
    if (run.backward) {
      const AttentionBackwardSteps& back = *run.backward->steps;
      add_step("grad_weights", back.grad_weights, rank);
      add_step("delta", back.delta, rank - 1);
      add_step("grad_scores", back.grad_scores, rank);
      add_step("grad_products", back.grad_products, rank);
    }
  } else if (run.steps && options.weights) {
    add_step("weights", run.steps->weights, rank);
  }
  const InterruptsHeld held;  // a Ctrl-C waits until the file is whole
  write_arrays(*options.out, arrays, {.force = options.force});
}

}  // namespace volvelle::cli
