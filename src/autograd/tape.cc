#include "volvelle/autograd/tape.h"

#include <atomic>
#include <string>
#include <utility>

#include "autograd/node.h"
#include "autograd/reached_leaves.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

std::atomic<std::uint64_t> made{0};

bool any_requires_grad(const std::vector<Variable>& inputs) {
  for (const Variable& input : inputs) {
    if (input && input.requires_grad()) return true;
  }
  return false;
}

void put_on_tape(const Variable& result, const char* operation, const std::vector<Variable>& inputs,
                 BackwardFunction backward) {
  Variable::State& state = *result.state();
  if (state.value.dtype() == DType::float16) {
    throw InvalidArgument(
        "[" + std::string(operation) +
        "] the result is float16 and its gradient would be too, which overflows at "
        "65504; use bfloat16 or float32 where gradients are wanted");
  }
  auto node = std::make_shared<Node>();
  node->operation = operation;
  node->number = made.fetch_add(1, std::memory_order_relaxed);
  node->inputs.reserve(inputs.size());
  for (const Variable& input : inputs) node->inputs.emplace_back(input);
  node->backward = std::move(backward);
  node->numbers = state.numbers;
  node->version = state.numbers->version;
  node->result = result.state();
  state.node = std::move(node);
}

std::string told(const Shape& shape, DType dtype) {
  return to_string(shape) + " " + std::string(name_of(dtype));
}

}  // namespace

std::uint64_t nodes_made() noexcept { return made.load(std::memory_order_relaxed); }

bool is_recording(std::initializer_list<const Variable*> inputs) {
  for (const Variable* input : inputs) ReachedLeaves::note(*input);
  if (!is_grad_enabled()) return false;
  for (const Variable* input : inputs) {
    if (*input && input->requires_grad()) return true;
  }
  return false;
}

Variable record(const char* operation, Tensor output, std::vector<Variable> inputs,
                BackwardFunction backward) {
  for (const Variable& input : inputs) ReachedLeaves::note(input);
  if (!any_requires_grad(inputs)) return Variable(std::move(output));
  return record_always(operation, std::move(output), std::move(inputs), std::move(backward));
}

Variable record_always(const char* operation, Tensor output, std::vector<Variable> inputs,
                       BackwardFunction backward) {
  Variable result(std::move(output));
  if (!is_grad_enabled()) return result;
  put_on_tape(result, operation, inputs, std::move(backward));
  return result;
}

Variable record_view(const char* operation, Tensor output, const Variable& input,
                     BackwardFunction backward) {
  Variable result(std::move(output));
  result.state()->numbers = input.state()->numbers;
  result.state()->is_part = input.state()->is_part;
  if (is_recording({&input})) {
    put_on_tape(result, operation, {input}, std::move(backward));
  }
  return result;
}

View GradientPass::grad_output() const { return frame_.grad_output.view(); }

Tensor GradientPass::take_grad_output() { return std::move(frame_.grad_output); }

void GradientPass::check_output() const {
  if (frame_.node.numbers->version == frame_.node.version) return;
  throw InvalidArgument("[backward] the result of " + std::string(frame_.node.operation) +
                        " was changed in place, and its gradient needs it as it was: run the "
                        "forward pass again after a change");
}

bool GradientPass::wants(int input) const { return frame_.edge(input).is_wanted(); }

GradientSlot GradientPass::slot(int input) {
  const Edge& edge = frame_.edge(input);
  Gathered& gathered = edge.gathered();
  // What is added to must be nobody else's; a caller's storage is meant to be shared.
  if (gathered.filled && !edge.is_bound() && gathered.gradient.is_shared()) {
    gathered.gradient = copy_of(gathered.gradient.view());
  }
  return gathered.slot(edge.dtype, edge.shape);
}

bool GradientPass::is_vacant(int input) const {
  const Edge& edge = frame_.edge(input);
  return !edge.gathered().filled && !edge.is_bound();
}

void GradientPass::give(int input, Tensor gradient) {
  const Edge& edge = frame_.edge(input);
  if (!is_vacant(input) || gradient.shape() != edge.shape || gradient.dtype() != edge.dtype) {
    throw InternalError("[backward] " + std::string(frame_.node.operation) + " gave input " +
                        std::to_string(input) + ", " + told(edge.shape, edge.dtype) +
                        ", a gradient " + told(gradient.shape(), gradient.dtype()) +
                        (is_vacant(input) ? "" : " where one was already") +
                        "; please report this");
  }
  // A leaf's gradient is its owner's to change (to clip, say): it must not be another's as well.
  if (!edge.node && gradient.is_shared()) gradient = copy_of(gradient.view());
  Gathered& gathered = edge.gathered();
  gathered.gradient = std::move(gradient);
  gathered.filled = true;
}

Saved::Saved(const Variable& variable)
    : variable_(variable), version_(variable ? variable.version() : 0) {}

View Saved::view(const char* operation) const { return variable(operation).view(); }

const Variable& Saved::variable(const char* operation) const {
  if (variable_ && variable_.version() != version_) {
    throw InvalidArgument("[backward] " + to_string(variable_.shape()) +
                          " was changed in place after " + operation +
                          " had saved it: run the forward pass again after a change");
  }
  return variable_;
}

}  // namespace volvelle
