#include "autograd/node.h"

#include <utility>

namespace volvelle {

// A long chain would be taken down by as deep a recursion; it is taken apart link by link instead.
Node::~Node() {
  std::vector<Variable> open = std::move(inputs);
  backward = nullptr;
  while (!open.empty()) {
    const Variable last = std::move(open.back());
    open.pop_back();
    if (!last || last.state().use_count() > 1 || !last.state()->node) continue;
    if (last.state()->node.use_count() > 1) continue;
    Node& node = *last.state()->node;
    for (Variable& input : node.inputs) open.push_back(std::move(input));
    node.inputs.clear();
  }
}

GradientSlot Gathered::slot(DType dtype, const Shape& shape) {
  if (!filled) {
    if (!gradient) gradient = Tensor(dtype, shape);
    filled = true;
    return {gradient.mutable_view(), Store::overwrite};
  }
  return {gradient.mutable_view(), Store::accumulate};
}

Gathered& GradientPass::Frame::gathered(int input) const {
  Variable::State& state = *node.inputs[static_cast<std::size_t>(input)].state();
  return state.node ? state.node->output : state.grad;
}

}  // namespace volvelle
