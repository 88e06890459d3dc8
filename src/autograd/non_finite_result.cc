#include "volvelle/autograd/non_finite_result.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "autograd/node.h"

namespace volvelle {
namespace {

// Every node that leads to `last`, itself included, in the order in which they were made.
std::vector<const Node*> nodes_behind(const Node* last) {
  std::vector<const Node*> found;
  std::vector<const Node*> open{last};
  std::unordered_set<const Node*> seen;
  while (!open.empty()) {
    const Node* const next = open.back();
    open.pop_back();
    if (next == nullptr || !seen.insert(next).second) continue;
    found.push_back(next);
    for (const Edge& input : next->inputs) open.push_back(input.node.get());
  }
  std::sort(found.begin(), found.end(),
            [](const Node* a, const Node* b) { return a->number < b->number; });
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
  for (const Edge& input : node.inputs) {
    if (input.leaf && input.is_wanted()) found.push_back(input.leaf);
  }
  return found;
}

std::vector<Variable> nearest_parameters(const Node* last) {
  const std::vector<const Node*> before = nodes_behind(last);
  for (auto it = before.rbegin(); it != before.rend(); ++it) {
    std::vector<Variable> found = parameters_of(**it);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace

std::optional<NonFiniteResult> first_non_finite_result(const Variable& output) {
  if (!output) return std::nullopt;
  for (const Node* const node : nodes_behind(output.state()->node.get())) {
    const std::shared_ptr<Variable::State> result = node->result.lock();
    if (!result) continue;  // nobody needed to keep it
    const View view = result->value.view();
    const std::int64_t index = first_non_finite_element(view, result->value.size());
    if (index < 0) continue;
    return NonFiniteResult{.operation = node->operation,
                           .shape = result->value.shape(),
                           .index = index,
                           .value = element_as_double(view, index),
                           .parameters = nearest_parameters(node)};
  }
  return std::nullopt;
}

}  // namespace volvelle
