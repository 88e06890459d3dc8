#include "autograd/node.h"

#include <utility>

#include "volvelle/base/error.h"

namespace volvelle {

Edge::Edge(const Variable& input) {
  if (!input || !input.requires_grad()) return;
  node = input.state()->node;
  if (!node) leaf = input;
  shape = input.shape();
  dtype = input.dtype();
}

Gathered& Edge::gathered() const {
  if (node) return node->output;
  if (leaf) return leaf.state()->grad;
  throw InternalError(
      "[backward] an operator gave a gradient that nobody wants; please report this");
}

// A leaf may have been told since that it needs none.
bool Edge::is_wanted() const { return node != nullptr || (leaf && leaf.requires_grad()); }

bool Edge::is_bound() const { return leaf && leaf.state()->bound; }

// A long chain would be taken down by as deep a recursion; it is taken apart link by link instead.
// What a node saved goes while the nodes that it holds alive are held by `open`.
Node::~Node() {
  std::vector<Edge> open = std::move(inputs);
  backward = nullptr;
  while (!open.empty()) {
    const std::shared_ptr<Node> last = std::move(open.back().node);
    open.pop_back();
    if (!last || last.use_count() > 1) continue;
    for (Edge& input : last->inputs) open.push_back(std::move(input));
    last->inputs.clear();
    last->backward = nullptr;
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

}  // namespace volvelle
