#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "volvelle/base/export.h"
#include "volvelle/nn/forward.h"
#include "volvelle/nn/initializer.h"
#include "volvelle/nn/model_cache.h"
#include "volvelle/nn/module.h"
#include "volvelle/nn/stack.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

struct LanguageModelOptions {
  StackOptions stack = {};
  std::int64_t vocabulary = 512;
  /// A scheme of any kind (nn/positions/catalog.h): one that is added to the token vectors, which
  /// is the model's own, or one of attention, which goes to every layer of the stack. With
  /// `stack.positions` set as well, this one must be of the first kind.
  std::string positions = "none";
  bool scale_embedding = false;  ///< token vectors times sqrt(C) before positions are added
  bool tied = true;              ///< the head is the embedding table
  bool head_bias = false;
};

struct ExtendOptions {
  std::int64_t chunk = 512;  ///< tokens of each row per pass, from its first real one on; 0: all
  View lengths = {};         ///< (B) integers: real tokens of each row of ids, its last ones
  bool every_token = false;  ///< logits of every token, not of the last one only
};

/// Tokens to logits: embedding, positions if any, a stack, a head.
/// Parameters: embedding.weight, positions... (of a scheme that is added to the token vectors:
/// positions.weight of a learned table), stack.layers.0..., head.weight (unless tied), head.bias.
class VOLVELLE_API LanguageModel : public Module {
 public:
  explicit LanguageModel(const LanguageModelOptions& options);
  ~LanguageModel() override;

  /// ids (B,T) -> logits (B,T,V); `how.tokens` say which of them are real and where they stand.
  /// Throws InvalidArgument beyond the positions that a scheme has, naming how many.
  Variable forward(const View& ids, const ForwardOptions& how = {},
                   StackTrace* trace = nullptr) const;
  void initialize(Initializer& initializer);

  /// Reads n more tokens of each sequence, in pieces of `how_much.chunk`, and gives the logits of
  /// the tokens asked for: (B,V), or (B,n,V). ids (B,n) or (n); sequences in the order of its rows.
  /// Where `how_much.lengths` says that a row has fewer, they are its last ones: left padding.
  /// The logits are those of a full pass over all tokens that the sequence holds, within float32's
  /// rounding: its very bits where more than 16 tokens are read at once into an empty sequence of
  /// a float32 cache. Chunks of up to 16 tokens give one another's bits, and no bit of a row
  /// depends on the rows beside it. A scheme whose turns change with the length of the text
  /// (PositionFacts::steady_positions) agrees up to that length; beyond, tokens that were read keep
  /// what they were. Every cache is as it was after a throw.
  /// Throws:  InvalidArgument: a cache of another model, unknown sequences or one listed twice,
  /// more
  ///          tokens than its capacity or the model's positions hold (with how many fit), ids
  ///          outside the vocabulary, lengths outside [1, n], positions that do not go on behind
  ///          the sequence, segments, training.
  /// every_token: the logits of padding are 0.
  Tensor extend(const View& ids, ModelCache& cache, std::span<const Sequence> sequences,
                const ExtendOptions& how_much = {}, const ForwardOptions& how = {}) const;
  /// One more token of each sequence: ids (B) -> logits (B,V). As `extend`.
  Tensor step(const View& ids, ModelCache& cache, std::span<const Sequence> sequences,
              const ForwardOptions& how = {}) const;

  const LanguageModelOptions& options() const noexcept;
  const Stack& stack() const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace volvelle
