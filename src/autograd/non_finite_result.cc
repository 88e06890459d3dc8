#include "volvelle/autograd/non_finite_result.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "autograd/node.h"

namespace volvelle {
namespace {

bool by_number(const Variable& a, const Variable& b) {
  return a.state()->node->number < b.state()->node->number;
}

// Every result that leads to `output`, itself included, in the order in which they were made.
std::vector<Variable> results_behind(const Variable& output) {
  std::vector<Variable> found;
  std::vector<Variable> open{output};
  std::unordered_set<const Node*> seen;
  while (!open.empty()) {
    const Variable next = open.back();
    open.pop_back();
    if (!next || next.is_leaf() || !seen.insert(next.state()->node.get()).second) continue;
    found.push_back(next);
    for (const Variable& input : next.state()->node->inputs) open.push_back(input);
  }
  std::sort(found.begin(), found.end(), by_number);
  return found;
}

// -1: all are finite. An element at a time: this is asked once, when a run has gone wrong.
std::int64_t first_non_finite_element(const View& view, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) {
    if (!std::isfinite(element_as_double(view, i))) return i;
  }
  return -1;
}

std::vector<Variable> parameters_of(const Node& node) {
  std::vector<Variable> found;
  for (const Variable& input : node.inputs) {
    if (input && input.is_leaf() && input.requires_grad()) found.push_back(input);
  }
  return found;
}

std::vector<Variable> nearest_parameters(const Variable& result) {
  const std::vector<Variable> before = results_behind(result);
  for (auto it = before.rbegin(); it != before.rend(); ++it) {
    std::vector<Variable> found = parameters_of(*it->state()->node);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace

std::optional<NonFiniteResult> first_non_finite_result(const Variable& output) {
  for (const Variable& result : results_behind(output)) {
    const View view = result.view();
    const std::int64_t index = first_non_finite_element(view, result.size());
    if (index < 0) continue;
    return NonFiniteResult{.operation = result.state()->node->operation,
                           .shape = result.shape(),
                           .index = index,
                           .value = element_as_double(view, index),
                           .parameters = nearest_parameters(result)};
  }
  return std::nullopt;
}

}  // namespace volvelle
