#include "cli/fact_words.h"

#include "volvelle/report/number.h"

namespace volvelle::cli {

std::string kind_words(const PositionFacts& facts) {
  if (facts.door == PositionDoor::none) return "none";
  return facts.shift_keeps == ShiftKeeps::everything ? "relative" : "absolute";
}

std::string shift_words(const PositionFacts& facts) {
  if (facts.shift_keeps == ShiftKeeps::nothing) return "nothing";
  if (!facts.steady_positions) return "all scores";
  return "all up to " + std::to_string(*facts.steady_positions);
}

std::string change_words(const PositionFacts& facts) {
  switch (facts.door) {
    case PositionDoor::none:
      break;
    case PositionDoor::tokens:
      return "embeddings: adds vectors";
    case PositionDoor::turn:
      return "attention: turns q and k";
    case PositionDoor::bias:
      return "attention: adds to scores";
    case PositionDoor::vectors:
      return "attention: adds vectors";
  }
  return "nothing";
}

std::string position_words(const PositionFacts& facts) {
  return facts.positions ? grouped(*facts.positions) : "no end";
}

std::string door_word(PositionDoor door) {
  switch (door) {
    case PositionDoor::none:
      break;
    case PositionDoor::tokens:
      return "tokens";
    case PositionDoor::turn:
      return "turn";
    case PositionDoor::bias:
      return "bias";
    case PositionDoor::vectors:
      return "vectors";
  }
  return "none";
}

}  // namespace volvelle::cli
