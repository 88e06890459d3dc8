#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "volvelle/autograd/tape.h"
#include "volvelle/autograd/variable.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

struct Node;

/// What is known of the bytes that variables show, shared by all that show the same.
struct Numbers {
  std::uint64_t version = 0;  ///< counts changes
  bool read_only = false;
};

/// A gradient on its way: absent, or what was gathered so far.
struct Gathered {
  Tensor gradient;
  bool filled = false;
  bool waits = false;  ///< its node is queued for its turn

  /// Room to write or add into: private bytes, in place where there is something already.
  GradientSlot slot(DType dtype, const Shape& shape);
};

/// Where the gradient of an operator's input goes: to the node that made it, or to a leaf. Neither:
/// nobody wants it. The input's numbers are not held; an operator that needs them saves them.
struct Edge {
  std::shared_ptr<Node> node;
  Variable leaf;
  Shape shape;
  DType dtype = DType::float32;

  Edge() = default;
  explicit Edge(const Variable& input);

  Gathered& gathered() const;
  bool is_wanted() const;
  bool is_bound() const;
};

/// An operator's result on the tape: what leads back from it.
struct Node {
  const char* operation = "";
  std::uint64_t number = 0;  ///< nodes are numbered as they are made
  std::vector<Edge> inputs;
  BackwardFunction backward;
  bool followed = false;
  std::shared_ptr<Numbers> numbers;       ///< of the output
  std::uint64_t version = 0;              ///< of them, when the output was made
  Gathered output;                        ///< its gradient, during a backward pass
  std::weak_ptr<Variable::State> result;  ///< the output, while somebody holds it
  bool retains = false;                   ///< it keeps its gradient

  ~Node();
};

/// How many nodes were made so far: the next one's number is this or more.
std::uint64_t nodes_made() noexcept;

/// What a variable is.
struct Variable::State {
  Tensor value;
  std::shared_ptr<Numbers> numbers = std::make_shared<Numbers>();
  bool requires_grad = false;  ///< of a leaf
  bool is_part = false;  ///< the bytes belong to a larger array, of which is_shared() knows nothing
  std::shared_ptr<Node> node;  ///< null for leaves
  Gathered grad;
  bool bound = false;   ///< grad.gradient is the caller's storage
  std::mutex deriving;  ///< threads that only read may derive, and meet there
  std::shared_ptr<const void> derived;
  std::uint64_t derived_version = 0;
};

/// One node's turn in a backward pass.
struct GradientPass::Frame {
  Node& node;
  Tensor grad_output;

  const Edge& edge(int input) const { return node.inputs.at(static_cast<std::size_t>(input)); }
};

}  // namespace volvelle
