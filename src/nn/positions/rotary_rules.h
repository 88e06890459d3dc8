#pragma once

#include <string>

#include "volvelle/nn/positions/rotary.h"

namespace volvelle {

/// "yarn".
const char* word_of(RotaryScaling scaling) noexcept;

/// Throws InvalidArgument for numbers that the scaling needs and lacks, has and does not read, or
/// that contradict each other.
void check_rotary(const RotaryOptions& options);

/// Throws InvalidArgument("[rotary] ...").
[[noreturn]] void refuse_rotary(const std::string& text);

/// The factor of longrope: as given, or max / original.
double longrope_factor(const RotaryOptions& options);

/// Throws InvalidArgument unless both lists of longrope have one number for each pair.
void check_longrope_lists(const RotaryOptions& options, std::int64_t pairs);

}  // namespace volvelle
