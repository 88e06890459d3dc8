#include "volvelle/autograd/backward.h"

#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "autograd/follow.h"
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

// What was gathered in a pass that failed must not meet a later one.
void forget(Waiting& waiting) {
  for (; !waiting.empty(); waiting.pop()) waiting.top()->output = {};
}

// The same for what a node that failed had given already.
void drop_unqueued(const Node& node) {
  for (const Edge& input : node.inputs) {
    if (input.node && !input.node->output.waits) input.node->output = {};
  }
}

void check_made_inside(const Node& node, std::uint64_t first) {
  if (node.number >= first) return;
  throw InvalidArgument("[recompute] the function reached a result of " +
                        std::string(node.operation) +
                        " that was made outside of it: hand it over as an input");
}

void follow(const std::shared_ptr<Node>& node, Waiting& waiting, std::uint64_t first) {
  GradientPass::Frame frame{*node, std::exchange(node->output, {}).gradient};
  check_unfollowed(*node);
  for (const Edge& input : node->inputs) {
    if (input.node) check_made_inside(*input.node, first);
  }
  node->followed = true;
  const std::shared_ptr<Variable::State> result = node->result.lock();
  if (result && node->retains) {
    result->grad = {.gradient = frame.grad_output, .filled = true};
  }
  const BackwardFunction function = std::exchange(node->backward, nullptr);
  GradientPass pass(frame);
  try {
    function(pass);
  } catch (...) {
    drop_unqueued(*node);
    throw;
  }
  for (const Edge& input : std::exchange(node->inputs, {})) {
    if (!input.node || !input.node->output.filled) continue;
    if (!std::exchange(input.node->output.waits, true)) waiting.push(input.node);
  }
}

}  // namespace

void follow_back(const Variable& output, Tensor grad_output, std::uint64_t first) {
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
  check_made_inside(*last, first);
  last->output = {.gradient = std::move(grad_output), .filled = true, .waits = true};
  Waiting waiting;
  waiting.push(last);
  try {
    while (!waiting.empty()) {
      const std::shared_ptr<Node> next = waiting.top();
      waiting.pop();
      follow(next, waiting, first);
    }
  } catch (...) {
    forget(waiting);
    throw;
  }
}

void backward(const Variable& loss) {
  if (!loss || loss.size() != 1) {
    throw InvalidArgument("[backward] the loss " +
                          (loss ? to_string(loss.shape()) : std::string("(absent)")) +
                          " must hold one element; give grad_output for an output of any shape");
  }
  follow_back(loss, one_of(loss.dtype(), loss.shape()));
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
  follow_back(output, copy_of(grad_output));
}

}  // namespace volvelle
