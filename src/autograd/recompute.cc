#include "volvelle/autograd/recompute.h"

#include <utility>

#include "volvelle/autograd/backward.h"
#include "volvelle/autograd/no_grad.h"
#include "volvelle/autograd/tape.h"

namespace volvelle {
namespace {

constexpr const char* kOperation = "recompute";

using Function = std::function<Variable(const std::vector<Variable>&)>;

// Runs the function once more with a tape, from leaves that stand for its inputs, and follows that
// tape. What an input has gathered already is added to in place, in the order of the operators, as
// it would have been without recomputing.
void pass_back(GradientPass& pass, const Function& function, const std::vector<Saved>& inputs) {
  const WithGrad on;
  std::vector<Variable> leaves;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    leaves.push_back(inputs[i] ? Variable(inputs[i].variable(kOperation).value()) : Variable());
    if (inputs[i] && pass.wants(static_cast<int>(i))) leaves.back().set_requires_grad(true);
  }
  const Variable again = function(leaves);
  if (!again.requires_grad() || again.is_leaf()) return;
  std::vector<bool> given(leaves.size(), false);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const int input = static_cast<int>(i);
    if (!leaves[i] || !leaves[i].requires_grad() || pass.is_vacant(input)) continue;
    const GradientSlot slot = pass.slot(input);
    leaves[i].bind_grad(Tensor::adopt(nullptr, slot.to.data(), slot.to.dtype(), slot.to.shape()),
                        slot.store);
    given[i] = true;
  }
  backward(again, pass.grad_output());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i] || given[i] || !leaves[i].grad()) continue;
    pass.give(static_cast<int>(i), leaves[i].grad());
  }
}

}  // namespace

Variable recompute(const Function& function, std::vector<Variable> inputs) {
  if (!is_grad_enabled()) return function(inputs);
  Tensor output;
  {
    const NoGrad off;
    output = function(inputs).value();
  }
  std::vector<Saved> saved;
  for (const Variable& input : inputs) saved.emplace_back(input);
  return record_always(kOperation, std::move(output), std::move(inputs),
                       [function, saved = std::move(saved)](GradientPass& pass) {
                         pass_back(pass, function, saved);
                       });
}

}  // namespace volvelle
