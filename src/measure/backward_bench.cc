#include "volvelle/measure/backward_bench.h"

#include <algorithm>

#include "measure/attention_arrays.h"
#include "measure/random_array.h"
#include "measure/sampled_check.h"
#include "measure/sampled_gradients.h"
#include "measure/timed_calls.h"
#include "volvelle/attention/attend_backward.h"
#include "volvelle/measure/attention_bench.h"

namespace volvelle {

double backward_operations(const AttentionCase& shape) {
  return pairs_seen(shape) * 10 * static_cast<double>(shape.head_width);
}

AttentionFigures measure_backward(const AttentionCase& given, const MeasureOptions& options) {
  const AttentionArrays arrays(filled_in(given));
  const AttentionCase& shape = arrays.shape;
  const AttentionProblem problem = arrays.problem();
  AttentionOptions how;
  how.threads = options.threads;
  const AttentionResult forward = attend(problem, AttentionRequest{}, how);
  check_sampled_rows(problem, forward.output.view());
  const AttentionSaved saved{.output = forward.output.view(), .lse = forward.lse.view()};
  const Tensor grad_output = random_array(shape.dtype, arrays.q.shape(), 4);
  Tensor q = Tensor::zeros(shape.dtype, arrays.q.shape());
  Tensor k = Tensor::zeros(shape.dtype, arrays.k.shape());
  Tensor v = Tensor::zeros(shape.dtype, arrays.v.shape());
  AttentionGradients gradients;
  gradients.q = q.mutable_view();
  gradients.k = k.mutable_view();
  gradients.v = v.mutable_view();
  const auto backward = [&] {
    attend_backward(problem, saved, grad_output.view(), gradients, how);
  };

  backward();
  const double error = check_sampled_gradients(problem, saved, grad_output.view(), gradients);
  AttentionFigures figures{
      time_calls({.call = backward, .operations = backward_operations(shape), .dtype = shape.dtype},
                 options),
      shape};
  figures.max_error = error;
  return figures;
}

const std::vector<AttentionCase>& backward_cases() {
  static const std::vector<AttentionCase> cases = [] {
    std::vector<AttentionCase> all;
    std::copy_if(attention_cases().begin(), attention_cases().end(), std::back_inserter(all),
                 [](const AttentionCase& shape) { return shape.queries >= 512; });
    return all;
  }();
  return cases;
}

}  // namespace volvelle
