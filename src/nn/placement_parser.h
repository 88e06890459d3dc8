#pragma once

#include <string_view>

#include "volvelle/nn/placement.h"

namespace volvelle {

/// The words of the text form: "norm", "layer_norm", "rms_norm" ("" for none).
std::string_view word_of(NormSlot slot) noexcept;
/// "attention", "feed_forward".
std::string_view word_of(Sublayer sublayer) noexcept;

/// Slots, which are no name. Throws InvalidArgument with the column.
NormPlacement parse_slots(std::string_view text);

}  // namespace volvelle
