#pragma once

#include "nn/placed_tokens.h"
#include "volvelle/attention/attend_variable.h"
#include "volvelle/nn/positions/scheme.h"

namespace volvelle {

/// A scheme and the places of the tokens into an attention over these tokens alone. Throws
/// InvalidArgument, beginning with "[module]", for documents packed into one row where turns go by
/// the row's length, and what the scheme refuses.
void enter_positions(const char* module, const PositionScheme& scheme, PlacedTokens& tokens,
                     AttendVariableOptions& attention);

/// Throws InvalidArgument for a scheme that attention cannot be told: one that is added to token
/// vectors.
void check_enters_attention(const char* module, const PositionScheme& scheme);

}  // namespace volvelle
