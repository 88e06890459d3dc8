#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "volvelle/base/export.h"
#include "volvelle/nn/forward.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/module.h"
#include "volvelle/nn/norm.h"
#include "volvelle/ops/activation.h"

namespace volvelle {

enum class FinalNorm : std::uint8_t {
  automatic,  ///< where the placement leaves the stream un-normalised
  yes,
  no,  ///< refused by name nowhere: whoever says so gets a stack without
};

/// A stack of transformer blocks, as data.
struct StackOptions {
  std::int64_t layers = 12;
  std::int64_t width = 64;          ///< C
  std::int64_t heads = 4;           ///< H
  std::int64_t key_heads = 0;       ///< G; 0: as many as heads
  std::int64_t head_width = 0;      ///< D; 0: width / heads
  std::int64_t feed_forward = 256;  ///< F
  /// A name of norm_placements(), slots, or one for each layer: see placement.h.
  std::string placement = "pre";
  NormKind norm = NormKind::layer;
  double epsilon = 0;  ///< of norms; 0: 1e-5 for layer norm, 1e-6 for RMS norm
  Activation activation = Activation::relu;
  bool gated = false;                 ///< SwiGLU and its like
  bool biases = true;                 ///< of all linear layers
  bool separate_projections = false;  ///< q, k, v as three matrices instead of in_proj
  bool query_key_norm = false;        ///< RMS norm on queries and keys, per head
  FinalNorm final_norm = FinalNorm::automatic;
  bool causal = false;
  /// How attention is told positions, by layer: see nn/positions/catalog.h. Schemes that are added
  /// to the token vectors are the LanguageModel's. Layers of equal text share one instance where
  /// the scheme has no parameters or says that it is shared (T5's table); its parameters are then
  /// those of the first layer (tied_names has the others).
  std::string positions = "none";
  /// Of weights of attention, of what feed-forwards have between their products, and of branches,
  /// as in PyTorch's TransformerEncoderLayer.
  double dropout = 0;
  bool recompute = false;        ///< activations of a block are computed again on the way back
  DType dtype = DType::float32;  ///< of the parameters; float64 for checks
};

class MultiHeadAttention;
class PositionScheme;

/// The stream as it went through a stack.
struct StackTrace {
  std::vector<Variable> inputs;  ///< of each block, then what the last one left: layers + 1
  /// Of each block, each step in order: what it added to the stream (after norm and factor).
  std::vector<std::vector<Variable>> branches;
};

/// y = R(m * x + sum of c * P(f(N(x)))), step by step, as the placement says (DESIGN of the
/// placement: placement.h). Parameters are named as in PyTorch's TransformerEncoder:
/// layers.0.self_attn..., layers.0.linear1..., layers.0.norm1..., norm.
class VOLVELLE_API Stack : public Module {
 public:
  /// Throws InvalidArgument: schemes that do not fit or are added to token vectors, width not
  /// divisible by heads, unknown names (with a suggestion), sizes that are not positive or whose
  /// parameters would not fit in memory (with the size).
  explicit Stack(const StackOptions& options);
  ~Stack() override;

  /// x (B,T,C) -> (B,T,C), in the parameters' dtype. A trace keeps every branch as a variable of
  /// its own, with the same numbers; it goes with NoGrad or without `recompute`.
  Variable forward(const Variable& x, const ForwardOptions& how = {},
                   StackTrace* trace = nullptr) const;

  /// Draws all parameters, block by block in the order in which PyTorch's constructors do: the
  /// attention, then the feed-forward; then a position scheme's parameters, at the first layer that
  /// has them. Where the placement has DeepNorm's alpha, what was drawn of a block is multiplied by
  /// `initial_factor` after it.
  void initialize(Initializer& initializer);
  /// The same for blocks [first, last) only (the final norm has no draws).
  void initialize_blocks(Initializer& initializer, std::int64_t first, std::int64_t last);

  const StackOptions& options() const noexcept;
  /// Of all layers, in order.
  std::vector<const MultiHeadAttention*> attentions() const;
  /// How the attention of a layer is told positions; absent: not at all.
  const PositionScheme* positions(std::int64_t layer) const;
  bool has_final_norm() const noexcept;
  /// DeepNorm's beta, on the initial values of v, out_proj, linear1 and linear2; else 1.
  double initial_factor() const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Makes every parameter of `to` that `from` has under the same name and shape hold the same bytes,
/// read-only in both: stacks that start from the same draws. Returns how many. Throws
/// InvalidArgument for two stacks whose `initial_factor`s differ.
VOLVELLE_API std::int64_t share_values(Module& to, const Module& from);

}  // namespace volvelle
