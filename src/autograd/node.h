#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "volvelle/autograd/tape.h"
#include "volvelle/autograd/variable.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

struct Node;

/// A gradient on its way: absent, or what was gathered so far.
struct Gathered {
  Tensor gradient;
  bool filled = false;
  bool waits = false;  ///< its node is queued for its turn

  /// Room to write or add into: private bytes, in place where there is something already.
  GradientSlot slot(DType dtype, const Shape& shape);
};

/// An operator's result on the tape: what leads back from it.
struct Node {
  const char* operation = "";
  std::uint64_t number = 0;  ///< nodes are numbered as they are made
  std::vector<Variable> inputs;
  BackwardFunction backward;
  bool followed = false;
  std::shared_ptr<std::uint64_t> version;   ///< of the output's numbers
  Gathered output;                          ///< its gradient, during a backward pass
  std::weak_ptr<Variable::State> retainer;  ///< the variable that keeps it, if one does

  ~Node();
};

/// What a variable is. `version` counts changes and is shared by variables that show the same
/// bytes.
struct Variable::State {
  Tensor value;
  std::shared_ptr<std::uint64_t> version = std::make_shared<std::uint64_t>(0);
  bool read_only = false;
  bool requires_grad = false;  ///< of a leaf
  std::shared_ptr<Node> node;  ///< null for leaves
  Gathered grad;
  bool bound = false;  ///< grad.gradient is the caller's storage
  std::shared_ptr<const void> derived;
  std::uint64_t derived_version = 0;
};

/// One node's turn in a backward pass.
struct GradientPass::Frame {
  Node& node;
  Tensor grad_output;

  Gathered& gathered(int input) const;
};

}  // namespace volvelle
