#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "volvelle/attention/problem.h"
#include "volvelle/autograd/variable.h"
#include "volvelle/base/export.h"
#include "volvelle/nn/forward.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/linear.h"
#include "volvelle/nn/module.h"
#include "volvelle/nn/norm.h"

namespace volvelle {

class PlacedTokens;
class PositionScheme;
struct AttendVariableOptions;

struct MultiHeadAttentionOptions {
  std::int64_t width = 64;        ///< C of the tokens that ask
  std::int64_t heads = 4;         ///< H
  std::int64_t key_heads = 0;     ///< G; 0: as many as heads
  std::int64_t head_width = 0;    ///< D; 0: width / heads
  std::int64_t memory_width = 0;  ///< C of the tokens that are asked; 0: width
  bool biases = true;             ///< of all projections
  bool separate = false;          ///< three matrices; always where memory_width is another one
  bool query_key_norm = false;    ///< RMS norm on each head's queries and keys
  double query_key_epsilon = 1e-6;
  bool causal = false;
  /// How attention is told positions; absent: not at all. May be shared with other modules, so
  /// whoever made it gives its parameters their first values.
  std::shared_ptr<PositionScheme> positions = {};
  double dropout = 0;  ///< of weights, in training
  DType dtype = DType::float32;
};

/// What one call adds.
struct AttentionCall {
  Variable memory = {};    ///< (B,S,C) that keys and values come from; absent: x
  Variable residual = {};  ///< shape of the result; added in the same pass
  /// Key lengths, window, ...; without q, k, v. Where the tokens are somebody else's (`memory`),
  /// a position scheme reads `query_positions` and `key_positions` of these.
  AttentionProblem rules = {};
};

/// Attention between projections: out_proj(attend(x Wq, memory Wk, memory Wv)). Parameters as in
/// torch.nn.MultiheadAttention: in_proj_weight (H D + 2 G D, C), or q_proj_weight, k_proj_weight,
/// v_proj_weight; in_proj_bias; then out_proj.weight (C, H D), out_proj.bias; then q_norm.weight
/// and k_norm.weight (D); then positions..., those of the position scheme.
///
/// `ForwardOptions::tokens` are the places of x: padding and other documents are not seen, and the
/// scheme goes by their positions. Of a memory they say nothing: its padding is for the call's
/// rules.
/// Source: Vaswani et al. 2017, arXiv:1706.03762; Ainslie et al. 2023, arXiv:2305.13245 (grouped
///         heads); Dehghani et al. 2023, arXiv:2302.05442 (norm on queries and keys).
class VOLVELLE_API MultiHeadAttention : public Module {
 public:
  /// Throws InvalidArgument: heads that do not divide the width (unless head_width is given), G
  /// that does not divide H, sizes below 1, a dropout outside [0, 1), a scheme that is added to
  /// the token vectors.
  explicit MultiHeadAttention(const MultiHeadAttentionOptions& options);

  /// x (B,T,C) -> (B,T,C) in the parameters' dtype. Throws InvalidArgument for places and rules
  /// that say the same thing twice, and what `attend` and the scheme refuse.
  Variable forward(const Variable& x, const ForwardOptions& how = {},
                   const AttentionCall& call = {}) const;
  /// Of its own parameters, not of the scheme's.
  void initialize(Initializer& initializer);
  /// Multiplies the values and what they become (rows of v, out_proj) by a number: DeepNorm's beta.
  void scale_values(double factor);

  /// With all numbers filled in.
  const MultiHeadAttentionOptions& options() const noexcept { return options_; }

 private:
  struct CachedTokens;
  struct Projected;
  Projected project(const Variable& x, const Variable& memory, const ForwardOptions& how) const;
  Projected project_apart(const Variable& x, const Variable& memory,
                          const ForwardOptions& how) const;
  Variable project_packed(const Variable& x, const ForwardOptions& how) const;
  Projected with_normed_heads(Projected projected, const ForwardOptions& how) const;
  Variable forward_cached(const Variable& x, const ForwardOptions& how,
                          const AttentionCall& call) const;
  void attend_cached(const CachedTokens& tokens, std::int64_t row, std::int64_t rows,
                     const ForwardOptions& how, const AttentionCall& call) const;
  void enter_positions(AttendVariableOptions& attention, const AttentionCall& call,
                       PlacedTokens& tokens) const;

  MultiHeadAttentionOptions options_;
  Variable in_proj_weight_, q_proj_weight_, k_proj_weight_, v_proj_weight_, in_proj_bias_;
  Linear out_proj_;
  std::optional<RmsNorm> q_norm_, k_norm_;
  bool keys_turn_late_ = false;  // a cache keeps them as they are projected
};

}  // namespace volvelle
