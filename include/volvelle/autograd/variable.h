#pragma once

#include <cstdint>
#include <memory>

#include "volvelle/base/export.h"
#include "volvelle/tensor/store.h"
#include "volvelle/tensor/tensor.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// An array that takes part in differentiation: a leaf (a parameter, an input, a constant) or what
/// an operator made of others. Copies are the same variable. A default-constructed one is absent.
/// Not for use from several threads at once, unless all of them only read.
class VOLVELLE_API Variable {
 public:
  Variable() = default;
  /// A leaf. With `requires_grad`, `backward` gathers its gradient (floating dtypes only: throws
  /// InvalidArgument for others).
  explicit Variable(Tensor value, bool requires_grad = false);

  explicit operator bool() const noexcept { return state_ != nullptr; }
  const Tensor& value() const;
  View view() const;
  const Shape& shape() const;
  int rank() const;
  DType dtype() const;
  std::int64_t size() const;

  /// To be changed in place, by an optimizer say. What was saved for a backward pass is no longer
  /// what it was: that pass will refuse to run. Throws InvalidArgument for a read-only value.
  MutableView change();
  /// Other numbers of the same shape and dtype in place of the old, which are let go.
  void replace(Tensor value);
  /// From now on `change` refuses: the bytes belong to a mapped file, or to others as well.
  void make_read_only();
  bool is_read_only() const;
  /// How often the numbers were changed; what is derived from them is known by it.
  std::uint64_t version() const;

  bool requires_grad() const;  ///< of a leaf: as set; of a result: whether any of its inputs does
  void set_requires_grad(bool wanted);  ///< leaves only; throws InvalidArgument for others
  bool is_leaf() const;

  /// The gradient that backward passes have gathered; absent where none came. Of results only after
  /// `retain_grad`. In the variable's dtype.
  Tensor grad() const;
  /// Makes the next backward pass keep this result's gradient too.
  void retain_grad();
  /// Forgets it: the next one overwrites. Bound storage stays bound.
  void clear_grad();
  /// Gradients of this leaf go into `storage` (shape and dtype of the value), part of a flat buffer
  /// say. What it holds is overwritten by the first gradient, or with Store::accumulate it is one
  /// already, and further ones are added to it. Throws InvalidArgument otherwise.
  void bind_grad(Tensor storage, Store store = Store::overwrite);
  /// Takes it back; the gradient is forgotten.
  void unbind_grad();

  /// Something derived from the numbers as they are (packed weights), kept until they change.
  std::shared_ptr<const void> derived() const;
  void keep_derived(std::shared_ptr<const void> made) const;

  struct State;
  const std::shared_ptr<State>& state() const noexcept { return state_; }
  explicit Variable(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  State& checked() const;

  std::shared_ptr<State> state_;
};

}  // namespace volvelle
