#pragma once

#include <string>

#include "volvelle/nn/positions/scheme.h"

namespace volvelle::cli {

/// What a scheme's facts say, in words.
std::string kind_words(const PositionFacts& facts);      ///< "absolute"
std::string shift_words(const PositionFacts& facts);     ///< what a shift leaves: "all scores"
std::string change_words(const PositionFacts& facts);    ///< "attention: turns q and k"
std::string position_words(const PositionFacts& facts);  ///< "16", "no end"
std::string door_word(PositionDoor door);                ///< "turn"

}  // namespace volvelle::cli
