#pragma once

#include <cstdint>

#include "volvelle/autograd/variable.h"
#include "volvelle/nn/language_model.h"
#include "volvelle/tensor/view.h"

namespace volvelle {

/// How the causal mask meets the softmax.
enum class HandMask : std::uint8_t {
  before_softmax,    ///< as it should
  after_softmax,     ///< weights over all keys, those of later ones then made 0
  without_diagonal,  ///< no token sees itself
};

/// What a hand-written pass may get wrong; absent positions are by index.
struct HandPassOptions {
  View token_positions = {};   ///< (T): of what is added to token vectors
  View query_positions = {};   ///< (T)
  View key_positions = {};     ///< (T)
  bool values_turned = false;  ///< like keys; only where the scheme turns
  HandMask mask = HandMask::before_softmax;
};

/// The forward pass of a language model, written out from its weights as somebody writes it who
/// ports it: embedding, positions, pre-LN blocks with ReLU, final norm, head. Without mistakes it
/// gives what `model.forward` gives. ids (B,T) -> logits (B,T,V).
/// Throws InvalidArgument for a model that is not of that kind.
Variable hand_pass(const LanguageModel& model, const View& ids,
                   const HandPassOptions& options = {});

}  // namespace volvelle
