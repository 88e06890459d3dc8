#include "volvelle/autograd/tape.h"

#include <atomic>
#include <string>
#include <utility>

#include "autograd/node.h"
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

std::string told(const Shape& shape, DType dtype) {
  return to_string(shape) + " " + std::string(name_of(dtype));
}

}  // namespace

bool is_recording(std::initializer_list<const Variable*> inputs) {
  if (!is_grad_enabled()) return false;
  for (const Variable* input : inputs) {
    if (*input && input->requires_grad()) return true;
  }
  return false;
}

Variable record(const char* operation, Tensor output, std::vector<Variable> inputs,
                BackwardFunction backward) {
  if (!any_requires_grad(inputs)) return Variable(std::move(output));
  return record_always(operation, std::move(output), std::move(inputs), std::move(backward));
}

Variable record_always(const char* operation, Tensor output, std::vector<Variable> inputs,
                       BackwardFunction backward) {
  Variable result(std::move(output));
  if (!is_grad_enabled()) return result;
  auto node = std::make_shared<Node>();
  node->operation = operation;
  node->number = made.fetch_add(1, std::memory_order_relaxed);
  node->inputs = std::move(inputs);
  node->backward = std::move(backward);
  node->version = result.state()->version;
  result.state()->node = std::move(node);
  return result;
}

View GradientPass::grad_output() const { return frame_.grad_output.view(); }

Tensor GradientPass::take_grad_output() { return std::move(frame_.grad_output); }

void GradientPass::check_output() const {
  if (*frame_.node.version == 0) return;
  throw InvalidArgument("[backward] the result of " + std::string(frame_.node.operation) +
                        " was changed in place, and its gradient needs it as it was: run the "
                        "forward pass again after a change");
}

bool GradientPass::wants(int input) const {
  const Variable& variable = frame_.node.inputs[static_cast<std::size_t>(input)];
  return variable && variable.requires_grad();
}

GradientSlot GradientPass::slot(int input) {
  const Variable& variable = frame_.node.inputs[static_cast<std::size_t>(input)];
  Gathered& gathered = frame_.gathered(input);
  // What is added to must be nobody else's; a caller's storage is meant to be shared.
  if (gathered.filled && !variable.state()->bound && gathered.gradient.is_shared()) {
    gathered.gradient = copy_of(gathered.gradient.view());
  }
  return gathered.slot(variable.dtype(), variable.shape());
}

bool GradientPass::is_vacant(int input) const {
  const Variable& variable = frame_.node.inputs[static_cast<std::size_t>(input)];
  return !frame_.gathered(input).filled && !variable.state()->bound;
}

void GradientPass::give(int input, Tensor gradient) {
  const Variable& variable = frame_.node.inputs[static_cast<std::size_t>(input)];
  if (!is_vacant(input) || gradient.shape() != variable.shape() ||
      gradient.dtype() != variable.dtype()) {
    throw InternalError("[backward] " + std::string(frame_.node.operation) + " gave input " +
                        std::to_string(input) + ", " + told(variable.shape(), variable.dtype()) +
                        ", a gradient " + told(gradient.shape(), gradient.dtype()) +
                        (is_vacant(input) ? "" : " where one was already") +
                        "; please report this");
  }
  frame_.gathered(input) = {std::move(gradient), true};
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
