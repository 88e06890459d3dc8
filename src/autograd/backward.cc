#include "volvelle/autograd/backward.h"

#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "autograd/node.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

struct Younger {
  bool operator()(const std::shared_ptr<Node>& a, const std::shared_ptr<Node>& b) const {
    return a->number < b->number;
  }
};

/// Nodes that have a gradient waiting, the youngest first: whoever reads a result was made after
/// it.
using Waiting =
    std::priority_queue<std::shared_ptr<Node>, std::vector<std::shared_ptr<Node>>, Younger>;

Tensor one_of(DType dtype, const Shape& shape) {
  static const double kOne = 1;
  return converted(View(&kOne, shape), dtype);
}

void check_unfollowed(const Node& node) {
  if (!node.followed) return;
  throw InvalidArgument(
      "[backward] the tape behind this was already followed, and what " +
      std::string(node.operation) +
      " saved is gone: run the forward pass again (gradients of gradients are not "
      "computed)");
}

// What a node gathered but was not asked to use must not meet a later pass.
void forget(Waiting& waiting) {
  for (; !waiting.empty(); waiting.pop()) waiting.top()->output = {};
}

void follow(const std::shared_ptr<Node>& node, Waiting& waiting) {
  check_unfollowed(*node);
  node->followed = true;
  GradientPass::Frame frame{*node, std::move(node->output.gradient)};
  node->output = {};
  if (const std::shared_ptr<Variable::State> retainer = node->retainer.lock()) {
    retainer->grad = {frame.grad_output, true};
  }
  std::vector<std::shared_ptr<Node>> before;
  for (const Variable& input : node->inputs) {
    if (input && input.state()->node && !input.state()->node->output.filled) {
      before.push_back(input.state()->node);
    }
  }
  GradientPass pass(frame);
  const BackwardFunction function = std::exchange(node->backward, nullptr);
  function(pass);
  for (std::shared_ptr<Node>& reached : before) {
    if (!reached->output.filled || std::exchange(reached->output.waits, true)) continue;
    waiting.push(std::move(reached));
  }
  node->inputs.clear();
}

void run(const Variable& output, Tensor grad_output) {
  const std::shared_ptr<Node> last = output.state()->node;
  if (!last) {
    if (!output.requires_grad()) {
      throw InvalidArgument(
          "[backward] the output hangs on no variable that requires a gradient (or was made "
          "without a tape, under NoGrad)");
    }
    throw InvalidArgument("[backward] the output is a leaf: nothing was computed from it");
  }
  check_unfollowed(*last);
  last->output = {std::move(grad_output), true, true};
  Waiting waiting;
  waiting.push(last);
  try {
    while (!waiting.empty()) {
      const std::shared_ptr<Node> next = waiting.top();
      waiting.pop();
      follow(next, waiting);
    }
  } catch (...) {
    forget(waiting);
    throw;
  }
}

}  // namespace

void backward(const Variable& loss) {
  if (!loss || loss.size() != 1) {
    throw InvalidArgument("[backward] the loss " +
                          (loss ? to_string(loss.shape()) : std::string("(absent)")) +
                          " must hold one element; give grad_output for an output of any shape");
  }
  run(loss, one_of(loss.dtype(), loss.shape()));
}

void backward(const Variable& output, const View& grad_output) {
  if (!output) throw InvalidArgument("[backward] the output is absent");
  if (!grad_output || grad_output.shape() != output.shape() ||
      grad_output.dtype() != output.dtype()) {
    throw InvalidArgument("[backward] grad_output " +
                          (grad_output ? to_string(grad_output.shape()) + " " +
                                             std::string(name_of(grad_output.dtype()))
                                       : std::string("(absent)")) +
                          " must be " + to_string(output.shape()) + " " +
                          std::string(name_of(output.dtype())) + ", as the output is");
  }
  run(output, copy_of(grad_output));
}

}  // namespace volvelle
