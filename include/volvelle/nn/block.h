#pragma once

#include <memory>
#include <vector>

#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/nn/forward.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/module.h"
#include "volvelle/nn/placement.h"
#include "volvelle/nn/stack.h"

namespace volvelle {

class MultiHeadAttention;
class PositionScheme;

/// One block of a stack: the steps of a placement with their sublayers and norms. Named as in
/// PyTorch's TransformerEncoderLayer: self_attn..., linear1..., linear2..., then norm1, norm2, ...
/// in the order in which the formula meets them (inside a branch from the inside, after the
/// branches of a step the one around the sum). A second attention is self_attn_2, a second
/// feed-forward feed_forward_2.
class VOLVELLE_API Block : public Module {
 public:
  /// `options.layers` is the depth that DeepNorm's alpha asks for. All attentions of the block are
  /// told positions by `positions` (none where absent); whoever made it draws its parameters.
  /// Throws InvalidArgument where `options.positions`, which only a stack can read, say anything
  /// else.
  Block(const StackOptions& options, const NormPlacement& placement,
        std::shared_ptr<PositionScheme> positions = {});
  ~Block() override;

  /// x (B,T,C) -> (B,T,C). With `branches` what each step adds to the stream is appended to it.
  Variable forward(const Variable& x, const ForwardOptions& how = {},
                   std::vector<Variable>* branches = nullptr) const;
  void initialize(Initializer& initializer);

  const NormPlacement& placement() const noexcept;
  /// In the order of the steps.
  std::vector<const MultiHeadAttention*> attentions() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace volvelle
