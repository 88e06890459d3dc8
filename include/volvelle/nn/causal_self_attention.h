#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "volvelle/nn/forward.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/module.h"

namespace volvelle {

struct CausalSelfAttentionOptions {
  std::int64_t width = 64;           ///< C
  std::int64_t heads = 4;            ///< H
  std::string positions = "rotary";  ///< a scheme that attention takes (nn/positions/catalog.h)
  bool causal = true;                ///< false only to show what the mask prevents
  DType dtype = DType::float32;
};

/// Queries, keys and values of each head, (B,H,T,D), as attention met them.
struct HeadsOfTokens {
  Tensor q, k, v;  ///< q and k as they were turned
};

/// out(attend(turn(q), turn(k), v)) with q, k, v = x qkv^T, causal. Parameters: qkv.weight (3C,C),
/// out.weight (C,C), 4 C^2 in all, no biases; then those of the position scheme.
/// Source: Su et al. 2021, arXiv:2104.09864.
class VOLVELLE_API CausalSelfAttention : public Module {
 public:
  /// Throws InvalidArgument for a width that heads do not divide, and what the scheme refuses.
  explicit CausalSelfAttention(const CausalSelfAttentionOptions& options);
  ~CausalSelfAttention() override;

  /// x (B,T,C) -> (B,T,C). With `heads` what attention was given is copied to it.
  Variable forward(const Variable& x, const ForwardOptions& how = {},
                   HeadsOfTokens* heads = nullptr) const;
  /// Draws qkv, then out, as two torch.nn.Linear without bias do.
  void initialize(Initializer& initializer);

  const CausalSelfAttentionOptions& options() const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace volvelle
