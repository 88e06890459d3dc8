#include "studies/position_arms.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "volvelle/attention/attend_variable.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/torch_generator.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle {
namespace {

constexpr std::uint64_t kTableSeed = 1;

// Small tables, so that far offsets share numbers here too.
std::string text_of(const std::string& scheme, std::int64_t rows) {
  if (scheme == "learned") return "learned(rows=" + std::to_string(rows) + ")";
  if (scheme == "clamped" || scheme == "relative") return scheme + "(max=2)";
  if (scheme == "t5") return "t5(buckets=8, max=8)";
  return scheme;
}

// Tables that are 0 before training would give no position at all.
void draw_parameters(PositionScheme& scheme) {
  TorchGenerator random(kTableSeed);
  for (const NamedParameter& parameter : scheme.parameters()) {
    Variable variable = parameter.variable;
    const MutableView values = variable.change();
    random.normal(
        std::span(static_cast<float*>(values.data()), static_cast<std::size_t>(variable.size())));
  }
}

std::shared_ptr<PositionScheme> drawn(const std::string& scheme, std::int64_t width,
                                      std::int64_t rows) {
  auto made = make_positions(
      text_of(scheme, rows),
      {.width = width, .heads = 1, .head_width = width, .key_heads = 1, .causal = false});
  draw_parameters(*made);
  return made;
}

Tensor identity(std::int64_t size) {
  Tensor matrix = Tensor::zeros(DType::float32, Shape{size, size});
  for (std::int64_t i = 0; i < size; ++i) matrix.data<float>()[i * size + i] = 1;
  return matrix;
}

Tensor with_positions(const PositionScheme& scheme, const Tensor& x, const View& positions) {
  const std::int64_t tokens = x.shape()[0], width = x.shape()[1];
  const Variable batch(x.reshaped(Shape{1, tokens, width}));
  return scheme.add_to_tokens(batch, positions).value().reshaped(Shape{tokens, width});
}

double row_difference(const Tensor& a, const Tensor& b, std::int64_t row) {
  double worst = 0;
  const std::int64_t width = a.shape()[1];
  for (std::int64_t c = row * width; c < (row + 1) * width; ++c) {
    worst = std::max(worst, std::fabs(static_cast<double>(a.data<float>()[c]) -
                                      static_cast<double>(b.data<float>()[c])));
  }
  return worst;
}

// weights[order[i]][order[j]] at (i, j).
Tensor in_order_both_ways(const Tensor& weights, const std::vector<std::int64_t>& order) {
  const std::int64_t tokens = weights.shape()[0];
  Tensor result(DType::float32, weights.shape());
  for (std::int64_t i = 0; i < tokens; ++i) {
    for (std::int64_t j = 0; j < tokens; ++j) {
      result.data<float>()[i * tokens + j] =
          weights.data<float>()[order[static_cast<std::size_t>(i)] * tokens +
                                order[static_cast<std::size_t>(j)]];
    }
  }
  return result;
}

}  // namespace

std::vector<PositionArm> position_arms(std::int64_t width, std::int64_t rows) {
  std::vector<PositionArm> arms;
  for (const PositionEntry& entry : position_schemes()) {
    arms.push_back({entry.name, entry.name, drawn(entry.name, width, rows)});
  }
  const auto sinusoidal = drawn("sinusoidal", width, rows);
  arms.push_back(
      {"none_causal", "none, causal mask", drawn("none", width, rows), AddedTo::input, true});
  arms.push_back({"sinusoidal_in_values", "added to values", sinusoidal, AddedTo::values});
  arms.push_back({"sinusoidal_in_output", "added to output", sinusoidal, AddedTo::output});
  return arms;
}

ArmOutcome attend_arm(const PositionArm& arm, const PositionProblem& problem, const Tensor& x,
                      std::int64_t first) {
  const NoGrad off;
  const std::int64_t tokens = x.shape()[0];
  std::vector<std::int64_t> places(static_cast<std::size_t>(tokens));
  std::iota(places.begin(), places.end(), first);
  const View positions(places.data(), Shape{tokens});
  const Tensor read =
      arm.added_to == AddedTo::input ? with_positions(*arm.scheme, x, positions) : x;
  Tensor values = product_of(read, problem.to_value);
  if (arm.added_to == AddedTo::values) values = with_positions(*arm.scheme, values, positions);

  AttendVariableOptions options;
  options.heads = 1;
  options.rules.causal = arm.causal;
  options.rules.query_positions = positions;
  options.rules.key_positions = positions;
  arm.scheme->enter(
      options,
      {.query_positions = positions, .key_positions = positions, .positions = first + tokens});
  const Variable q(product_of(read, problem.to_query)), k(product_of(read, problem.to_key));
  ArmOutcome outcome;
  outcome.output = attend(q, k, Variable(values), options).value();
  // With unit vectors for values the output is the weights; vectors for values have another width.
  options.relative_values = {};
  outcome.weights = attend(q, k, Variable(identity(tokens)), options).value();
  if (arm.added_to == AddedTo::output) {
    outcome.output = with_positions(*arm.scheme, outcome.output, positions);
  }
  return outcome;
}

ArmFigures measure_arm(const PositionArm& arm, const PositionProblem& problem) {
  const std::int64_t tokens = problem.x.shape()[0];
  const std::vector<std::int64_t> order = shuffle_of(tokens);
  const ArmOutcome plain = attend_arm(arm, problem, problem.x);
  const ArmOutcome shuffled = attend_arm(arm, problem, rows_in_order(problem.x, order));
  ArmFigures figures;
  figures.shuffled = largest_difference(shuffled.output, rows_in_order(plain.output, order));
  figures.weights_shuffled =
      largest_difference(shuffled.weights, in_order_both_ways(plain.weights, order));
  // The last token stays, the others move on by one place.
  std::vector<std::int64_t> others(order.size());
  std::iota(others.begin(), others.end(), 0);
  std::rotate(others.begin(), others.begin() + 1, others.end() - 1);
  const ArmOutcome kept = attend_arm(arm, problem, rows_in_order(problem.x, others));
  figures.reached = row_difference(kept.output, plain.output, tokens - 1);
  figures.shifted =
      largest_difference(attend_arm(arm, problem, problem.x, kArmShift).output, plain.output);
  return figures;
}

std::vector<std::int64_t> shuffle_of(std::int64_t tokens) {
  if (tokens == 6) return {3, 0, 5, 1, 4, 2};
  std::vector<std::int64_t> order;
  for (std::int64_t i = 1; i < tokens; i += 2) order.push_back(i);
  for (std::int64_t i = 0; i < tokens; i += 2) order.push_back(i);
  return order;
}

}  // namespace volvelle
