#include "volvelle/autograd/recompute.h"

#include <string>
#include <utility>

#include "autograd/follow.h"
#include "autograd/node.h"
#include "autograd/reached_leaves.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/autograd/tape.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

using Function = std::function<Variable(const std::vector<Variable>&)>;

constexpr const char* kName = "recompute";

std::string told(const Variable& variable) {
  return to_string(variable.shape()) + " " + std::string(name_of(variable.dtype()));
}

/// The inputs as the function sees them the second time. Results become leaves, which end the
/// function's own tape; what their nodes have gathered goes along and comes back, so that every sum
/// has the order that it would have had without recomputation.
class SecondInputs {
 public:
  SecondInputs(const std::vector<Saved>& saved, const std::vector<Edge>& edges) {
    for (std::size_t i = 0; i < saved.size(); ++i) {
      const Variable& first = saved[i].variable(kName);
      inputs_.push_back(first && edges[i].node ? leaf_for(first, edges[i].node) : first);
    }
  }

  const std::vector<Variable>& inputs() const { return inputs_; }

  void give_back() {
    for (const Lent& lent : lent_) lent.node->output = std::move(lent.leaf.state()->grad);
  }

 private:
  struct Lent {
    std::shared_ptr<Node> node;
    Variable leaf;
  };

  Variable leaf_for(const Variable& result, const std::shared_ptr<Node>& node) {
    for (const Lent& lent : lent_) {
      if (lent.node == node) return lent.leaf;
    }
    Variable leaf(result.value(), true);
    leaf.state()->numbers = result.state()->numbers;
    leaf.state()->grad = std::exchange(node->output, {});
    lent_.push_back({node, leaf});
    return leaf;
  }

  std::vector<Variable> inputs_;
  std::vector<Lent> lent_;
};

void check_same(const Variable& second, const View& grad_output) {
  if (second && second.shape() == grad_output.shape() && second.dtype() == grad_output.dtype()) {
    return;
  }
  throw InvalidArgument("[recompute] the function gave " +
                        (second ? told(second) : std::string("nothing")) + " the second time, " +
                        to_string(grad_output.shape()) + " " +
                        std::string(name_of(grad_output.dtype())) +
                        " the first time; it must give the same for the same inputs");
}

void follow_again(const Function& function, const std::vector<Saved>& inputs,
                  const std::vector<Saved>& reached, GradientPass& pass) {
  for (const Saved& leaf : reached) (void)leaf.variable(kName);  // as they were?
  const WithGrad on;
  SecondInputs again(inputs, pass.frame().node.inputs);
  const std::uint64_t first = nodes_made();
  const Variable result = function(again.inputs());
  check_same(result, pass.grad_output());
  if (result.requires_grad()) follow_back(result, pass.take_grad_output(), first);
  again.give_back();
}

}  // namespace

Variable recompute(const Function& function, std::vector<Variable> inputs) {
  if (!is_grad_enabled()) return function(inputs);
  Variable result;
  std::vector<Saved> reached;
  {
    const NoGrad off;
    ReachedLeaves leaves;
    result = function(inputs);
    reached = leaves.take();
  }
  if (!result) throw InvalidArgument("[recompute] the function gave nothing");
  if (result.requires_grad()) return result;  // an input or a parameter as it is
  std::vector<Saved> saved(inputs.begin(), inputs.end());
  Variable output =
      record_always(kName, result.value(), std::move(inputs),
                    [function, saved = std::move(saved), reached = std::move(reached)](
                        GradientPass& pass) { follow_again(function, saved, reached, pass); });
  return output;
}

}  // namespace volvelle
