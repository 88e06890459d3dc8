#include "studies/norm_placement_run.h"

#include <utility>

#include "studies/gradient_arrays.h"
#include "volvelle/autograd/backward.h"
#include "volvelle/ops/cross_entropy.h"
#include "volvelle/ops/linear_variable.h"
#include "volvelle/ops/sums.h"

namespace volvelle {
namespace {

Variable in_dtype(const Variable& drawn, DType dtype, bool requires_grad = false) {
  const bool same = drawn.dtype() == dtype;
  return Variable(same ? drawn.value() : converted(drawn.view(), dtype), requires_grad);
}

Variable loss_of(const Variable& out, const EndDraws& end, const Tensor& labels,
                 const RunOptions& how) {
  if (how.loss == PlacementLoss::degenerate) return mean_square(out);
  const Variable logits = linear(out, in_dtype(end.head_weight, out.dtype()),
                                 in_dtype(end.head_bias, out.dtype()), {.threads = how.threads});
  return cross_entropy(logits, labels.view(), {.threads = how.threads});
}

Tensor gradient_of(const Variable& variable) {
  Tensor gradient = variable.grad();
  // Where no way leads to the loss, nothing depends on it.
  return gradient ? gradient : Tensor::zeros(variable.dtype(), variable.shape());
}

void measure_parameters(const PlacementPlan& plan, const std::vector<Variable>& asked,
                        const RunOptions& how, PlacementRun& run) {
  for (const Variable& parameter : asked) {
    const Tensor gradient = gradient_of(parameter);
    run.norms.push_back(norm(plan.parameter.of(gradient.view()), how.threads));
    if (how.keep_gradients) run.gradients.push_back(gradient);
  }
}

double share_found(const View& at_output, const View& at_input) {
  return inner_product(at_output, at_input) / inner_product(at_output, at_output);
}

void measure_stream(const StackTrace& trace, const RunOptions& how, PlacementRun& run) {
  std::vector<Tensor> gradients;
  std::vector<double> norms;
  for (const Variable& input : trace.inputs) {
    gradients.push_back(gradient_of(input));
    norms.push_back(norm(gradients.back().view(), how.threads));
  }
  const std::size_t layers = gradients.size() - 1;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    run.factors.push_back(norms[layer] / norms[layer + 1]);
    run.copies.push_back(share_found(gradients[layer + 1].view(), gradients[layer].view()));
  }
  run.copy_through = share_found(gradients.back().view(), gradients.front().view());
  norms.pop_back();
  run.norms = std::move(norms);
  if (!how.keep_gradients) return;
  run.last_input = trace.inputs[layers - 1].value();
  run.last_branch = trace.branches[layers - 1].front().value();
  run.gradient_out = gradients.back();
  gradients.pop_back();
  run.gradients = std::move(gradients);
}

}  // namespace

PlacementRun run_case(const PlacementPlan& plan, const PlacementCase& one, const CaseStack& built,
                      const SeedDraws& draws, const Tensor& labels, const RunOptions& how) {
  const bool stream = plan.options.measure == PlacementMeasure::stream;
  const EndDraws& end = draws.end(one.depth);
  const Variable tokens = in_dtype(end.tokens, built.stack().options().dtype, stream);
  StackTrace trace;
  const Variable out =
      built.stack().forward(tokens, {.threads = how.threads}, stream ? &trace : nullptr);
  for (Variable& input : trace.inputs) {
    if (!input.is_leaf()) input.retain_grad();
  }
  const Variable loss = loss_of(out, end, labels, how);
  backward(loss);
  PlacementRun run;
  run.loss = element_as_double(loss.view(), 0);
  if (stream) {
    measure_stream(trace, how, run);
  } else {
    measure_parameters(plan, built.asked(), how, run);
  }
  return run;
}

}  // namespace volvelle
