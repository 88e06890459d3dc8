#pragma once

#include <optional>

#include "volvelle/nn/language_model.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle {

/// `LanguageModelOptions::positions` by who acts on them.
struct SplitPositions {
  std::optional<PositionText> of_tokens;  ///< added to the token vectors, by the model itself
  StackOptions stack;                     ///< with the positions of its attentions
};

/// Throws InvalidArgument: positions of attention both here and in the stack's options, schemes
/// that are added to token vectors but differ by layer.
SplitPositions split_positions(const LanguageModelOptions& options);

}  // namespace volvelle
