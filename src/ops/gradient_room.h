#pragma once

#include "volvelle/autograd/tape.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// Where an operator writes the gradient of its input: over that of its output where nobody else
/// holds it and the dtypes are the same, else into the input's slot. For operators whose output has
/// the input's shape, and that read an element of the one before they write the same element of the
/// other.
class GradientRoom {
 public:
  /// Takes the output's gradient. `dtype` is the input's. Without a wish for the input's gradient
  /// there is no room.
  GradientRoom(GradientPass& pass, int input, DType dtype);

  const Tensor& grad_output() const { return grad_output_; }
  explicit operator bool() const { return static_cast<bool>(to_); }
  const MutableView& to() const { return to_; }
  bool accumulates() const { return store_ == Store::accumulate; }

  /// To be called once the gradient is written; the output's is let go.
  void give();

 private:
  GradientPass& pass_;
  int input_;
  Tensor grad_output_;
  MutableView to_;
  Store store_ = Store::overwrite;
  bool in_place_ = false;
};

}  // namespace volvelle
