#include "nn/enter_positions.h"

#include <string>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const char* module, const std::string& text) {
  throw InvalidArgument("[" + std::string(module) + "] " + text);
}

}  // namespace

void enter_positions(const char* module, const PositionScheme& scheme, PlacedTokens& tokens,
                     AttendVariableOptions& attention) {
  const PositionFacts facts = scheme.facts();
  tokens.keep_padding_within(facts.positions);
  const AttentionPlaces places = tokens.attention_places();
  if (tokens.has_segments()) {
    const std::optional<std::int64_t> steady = facts.steady_positions;
    if (steady && places.positions > *steady) {
      refuse(module, "beyond " + std::to_string(*steady) +
                         " positions this scheme goes by the length that a row has reached, and a "
                         "row of several documents has several: give each document its own row");
    }
  }
  attention.rules.query_positions = places.query_positions;
  attention.rules.key_positions = places.key_positions;
  scheme.enter(attention, places);
}

void check_enters_attention(const char* module, const PositionScheme& scheme) {
  if (scheme.facts().door != PositionDoor::tokens) return;
  refuse(module,
         "the position scheme is one that is added to the token vectors, before the first block; "
         "give it to the model (LanguageModelOptions::positions)");
}

}  // namespace volvelle
