#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/tensor/store.h"
#include "volvelle/tensor/tensor.h"

namespace volvelle {

/// Where the gradient of an input is to be written, and whether it joins what is there.
struct GradientSlot {
  MutableView to;
  Store store = Store::overwrite;
};

/// What an operator's backward is given. Inputs are counted as they were recorded.
class VOLVELLE_API GradientPass {
 public:
  /// Gradient of the operator's output, in its shape and dtype.
  View grad_output() const;
  /// The same, to be passed on (`give`) or written over where `Tensor::is_shared` says that nobody
  /// else holds it. Not to be taken twice.
  Tensor take_grad_output();

  /// To be called by an operator that saved its own output (as a Tensor: a Variable would hold
  /// itself alive). Throws InvalidArgument when the output was changed in place since.
  void check_output() const;

  bool wants(int input) const;  ///< false: nobody asked for this input's gradient
  /// Room for it, in the input's shape and dtype. One slot a pass and input, asked for when it is
  /// written: two inputs may be one variable, and the second slot then adds to the first.
  GradientSlot slot(int input);
  /// Whether nothing is there yet, so that `give` may be used.
  bool is_vacant(int input) const;
  /// Hands over a whole gradient without copying it; others may hold the same tensor. Throws
  /// InternalError unless the slot is vacant, or where shape or dtype differ.
  void give(int input, Tensor gradient);

  struct Frame;  ///< the tape's own
  explicit GradientPass(Frame& frame) : frame_(frame) {}
  Frame& frame() noexcept { return frame_; }

 private:
  Frame& frame_;
};

/// A variable's numbers, kept for the backward pass, which refuses if they were changed meanwhile.
class VOLVELLE_API Saved {
 public:
  Saved() = default;
  explicit Saved(const Variable& variable);

  explicit operator bool() const noexcept { return static_cast<bool>(variable_); }
  /// Throws InvalidArgument, naming `operation`, when the numbers are not what was saved.
  View view(const char* operation) const;
  const Variable& variable(const char* operation) const;  ///< with the same check

 private:
  Variable variable_;
  std::uint64_t version_ = 0;
};

/// How an operator gives back the gradient of its inputs from that of its output.
using BackwardFunction = std::function<void(GradientPass&)>;

/// Makes the result of an operator: `output`, computed already, with what leads back to `inputs`
/// (absent ones may be among them), whose numbers it does not hold. Where gradients are off or no
/// input wants one, `backward` is dropped at once and with it all that it saved. `operation` is a
/// literal.
VOLVELLE_API Variable record(const char* operation, Tensor output, std::vector<Variable> inputs,
                             BackwardFunction backward);

/// The same for an operator that reaches further leaves by itself (recomputation): recorded
/// whenever gradients are on.
VOLVELLE_API Variable record_always(const char* operation, Tensor output,
                                    std::vector<Variable> inputs, BackwardFunction backward);

/// The same for a result that shows the bytes of its input, in another shape say: a change of the
/// one in place is a change of the other, and so is `make_read_only`.
VOLVELLE_API Variable record_view(const char* operation, Tensor output, const Variable& input,
                                  BackwardFunction backward);

/// Whether `record` would keep the way back to any of these: operators save nothing otherwise.
VOLVELLE_API bool is_recording(std::initializer_list<const Variable*> inputs);

}  // namespace volvelle
