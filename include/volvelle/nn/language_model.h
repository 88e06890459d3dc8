#pragma once

#include <cstdint>
#include <memory>

#include "volvelle/base/export.h"
#include "volvelle/nn/forward.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/module.h"
#include "volvelle/nn/stack.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

struct LanguageModelOptions {
  StackOptions stack = {};
  std::int64_t vocabulary = 512;
  std::int64_t context = 0;  ///< rows of the learned table of positions; 0: no positions
  bool tied = true;          ///< the head is the embedding table
  bool head_bias = false;
};

/// Tokens to logits: embedding, learned positions if any, a stack, a head.
/// Parameters: embedding.weight, positions.weight, stack.layers.0..., head.weight (unless tied),
/// head.bias.
class VOLVELLE_API LanguageModel : public Module {
 public:
  explicit LanguageModel(const LanguageModelOptions& options);
  ~LanguageModel() override;

  /// ids (B,T) -> logits (B,T,V). Throws InvalidArgument beyond the table of positions, naming its
  /// length.
  Variable forward(const View& ids, const ForwardOptions& how = {},
                   StackTrace* trace = nullptr) const;
  void initialize(Initializer& initializer);

  const LanguageModelOptions& options() const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace volvelle
