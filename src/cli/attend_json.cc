#include "cli/attend_json.h"

#include "cli/attend_backward.h"
#include "cli/expect_json.h"
#include "cli/seen_pairs.h"
#include "cli/view_axes.h"
#include "volvelle/report/json.h"

namespace volvelle::cli {
namespace {

void write_number(JsonWriter& json, double value, DType dtype) {
  if (dtype == DType::float64) {
    json.value(value);
  } else {
    json.value(static_cast<float>(value));  // exact: that is where the value came from
  }
}

// Nested lists; an element that `hidden` (of the same shape) marks is null.
void write_nested(JsonWriter& json, const View& view, const View& hidden, int axis, std::int64_t at,
                  std::int64_t hidden_at) {
  if (axis == view.rank()) {
    if (hidden && element_as_double(hidden, hidden_at) != 0) {
      json.null();
    } else {
      write_number(json, element_as_double(view, at), view.dtype());
    }
    return;
  }
  json.begin_array();
  for (std::int64_t i = 0; i < view.shape()[axis]; ++i) {
    write_nested(json, view, hidden, axis + 1, at + i * view.strides()[axis],
                 hidden ? hidden_at + i * hidden.strides()[axis] : 0);
  }
  json.end_array();
}

void write_array(JsonWriter& json, const char* name, const Tensor& array) {
  if (!array) return;
  json.key(name);
  write_nested(json, array.view(), View(), 0, 0, 0);
}

// A step, which has every axis, under the axes that q has.
void write_step(JsonWriter& json, const char* name, const Tensor& array, const Tensor& hidden,
                int rank) {
  if (!array) return;
  json.key(name);
  const View mask = hidden ? without_leading(hidden.view(), rank) : View();
  write_nested(json, without_leading(array.view(), rank), mask, 0, 0, 0);
}

void write_shape(JsonWriter& json, const char* name, const Shape& shape) {
  json.key(name).begin_array();
  for (const std::int64_t size : shape) json.value(size);
  json.end_array();
}

void write_plan(JsonWriter& json, const AttendInputs& inputs, const AttentionPlan& plan,
                int threads, const Tensor* output, const AttentionGradientResult* gradients) {
  json.key("source").value(inputs.source);
  json.key("shapes").begin_object();
  write_shape(json, "q", inputs.problem.q.shape());
  write_shape(json, "k", inputs.problem.k.shape());
  write_shape(json, "v", inputs.problem.v.shape());
  if (output != nullptr) write_shape(json, "output", output->shape());
  if (gradients != nullptr) {
    for (const auto& [name, array] : named(*gradients)) write_shape(json, name, array.shape());
  }
  json.end_object();
  json.key("sizes").begin_object();
  json.key("batch").value(plan.batch).key("heads").value(plan.heads);
  json.key("key_heads").value(plan.key_heads).key("queries").value(plan.queries);
  json.key("keys").value(plan.keys).key("head_width").value(plan.head_width);
  json.key("value_width").value(plan.value_width);
  json.end_object();
  json.key("dtype").value(name_of(inputs.problem.q.dtype()));
  json.key("path").value(name_of_path(plan.path));
  json.key("reason").value(plan.reason);
  json.key("simd").value(plan.simd);
  json.key("threads").value(threads);
  json.key("scale").value(plan.scale);
  if (!inputs.positions.empty()) json.key("positions").value(inputs.positions);
  if (const auto pairs = seen_pairs(inputs.problem, plan)) {
    json.key("seen_pairs").value(static_cast<std::int64_t>(*pairs));
  }
  if (plan.path == AttentionPath::fused) {
    json.key("tiles").begin_object();
    json.key("skipped").value(plan.tiles.skipped).key("full").value(plan.tiles.full);
    json.key("partial").value(plan.tiles.partial).key("queries").value(plan.tiles.queries);
    json.key("keys").value(plan.tiles.keys);
    json.end_object();
  }
}

void write_backward(JsonWriter& json, const AttentionBackwardPlan& plan,
                    const std::optional<double>& milliseconds) {
  json.key("backward").begin_object();
  json.key("path").value(name_of_path(plan.path)).key("reason").value(plan.reason);
  json.key("simd").value(plan.simd);
  if (milliseconds) json.key("milliseconds").value(*milliseconds);
  json.end_object();
}

void write_steps(JsonWriter& json, const AttendRun& run, int rank) {
  const AttentionSteps& steps = *run.steps;
  write_step(json, "turned_q", run.turned_q, {}, rank);
  write_step(json, "turned_k", run.turned_k, {}, rank);
  write_step(json, "scores", steps.scores, steps.excluded, rank);
  write_step(json, "scaled", steps.scaled, steps.excluded, rank);
  write_step(json, "capped", steps.capped, steps.excluded, rank);
  write_step(json, "biased", steps.biased, steps.excluded, rank);
  write_step(json, "exponentials", steps.exponentials, {}, rank);
  write_step(json, "weights", steps.weights, {}, rank);
  write_step(json, "dropped", steps.dropped, {}, rank);
  write_step(json, "weights_unscaled", steps.weights_unscaled, {}, rank);
  write_step(json, "row_sums", steps.row_sums, {}, rank - 1);
}

void write_backward_steps(JsonWriter& json, const AttendRun& run, int rank) {
  const AttentionBackwardSteps& steps = *run.backward->steps;
  const Tensor& excluded = run.steps->excluded;
  write_step(json, "grad_weights", steps.grad_weights, excluded, rank);
  write_step(json, "delta", steps.delta, {}, rank - 1);
  write_step(json, "grad_scores", steps.grad_scores, {}, rank);
  write_step(json, "grad_products", steps.grad_products, {}, rank);
}

}  // namespace

const char* name_of_path(AttentionPath path) {
  switch (path) {
    case AttentionPath::fused:
      return "fused";
    case AttentionPath::composed:
      return "composed";
    case AttentionPath::oracle:
      return "oracle";
    case AttentionPath::automatic:
      break;
  }
  return "auto";
}

void write_json(std::ostream& out, const AttendDocument& document) {
  const auto& [inputs, run, options, expect] = document;
  JsonWriter json(out);
  json.begin_object();
  write_plan(json, inputs, run.plan, run.threads, &run.result.output,
             run.backward ? &run.backward->gradients : nullptr);
  json.key("milliseconds").value(run.milliseconds);
  if (run.backward) write_backward(json, run.backward->plan, run.backward->milliseconds);
  if (options.out) {
    json.key("out").value(*options.out);
  } else {
    write_array(json, "output", run.result.output);
    write_array(json, "lse", run.result.lse);
    write_array(json, "entropy", run.result.entropy);
    write_array(json, "column_sums", run.result.column_sums);
    if (run.backward) {
      for (const auto& [name, array] : named(run.backward->gradients)) {
        write_array(json, name, array);
      }
    }
    if (run.steps && options.steps) {
      write_steps(json, run, inputs.problem.q.rank());
      if (run.backward) write_backward_steps(json, run, inputs.problem.q.rank());
    } else if (run.steps && options.weights) {
      write_step(json, "weights", run.steps->weights, {}, inputs.problem.q.rank());
    }
  }
  if (expect) write_expect(json, *expect);
  json.end_object();
}

void write_plan_json(std::ostream& out, const AttendInputs& inputs, const AttentionPlan& plan,
                     const std::optional<AttentionBackwardPlan>& backward, int threads) {
  JsonWriter json(out);
  json.begin_object();
  write_plan(json, inputs, plan, threads, nullptr, nullptr);
  if (backward) write_backward(json, *backward, std::nullopt);
  json.end_object();
}

}  // namespace volvelle::cli
