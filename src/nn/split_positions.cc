#include "nn/split_positions.h"

#include <algorithm>
#include <string>
#include <vector>

#include "nn/stack_sizes.h"
#include "volvelle/base/error.h"

namespace volvelle {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw InvalidArgument("[language model] " + text);
}

}  // namespace

SplitPositions split_positions(const LanguageModelOptions& options) {
  check_layers(options.stack.layers);
  SplitPositions split{{}, options.stack};
  const std::vector<PositionText> texts =
      positions_by_layer(options.positions, options.stack.layers);
  const auto enters_by = [](PositionDoor door) {
    return [door](const PositionText& text) { return position_scheme(text.scheme).door == door; };
  };
  if (std::all_of(texts.begin(), texts.end(), enters_by(PositionDoor::none))) return split;
  const auto added = std::find_if(texts.begin(), texts.end(), enters_by(PositionDoor::tokens));
  if (added != texts.end()) {
    const std::string name = to_text(*added);
    for (const PositionText& text : texts) {
      if (to_text(text) == name) continue;
      refuse("positions '" + options.positions + "': " + name +
             " is added to the token vectors once, before the first layer, so it cannot differ by "
             "layer; name it alone and put what attention is told into stack.positions");
    }
    split.of_tokens = *added;
    return split;
  }
  if (options.stack.positions != "none") {
    refuse("positions '" + options.positions + "' and stack.positions '" + options.stack.positions +
           "' both tell attention where tokens stand; give one of them");
  }
  split.stack.positions = options.positions;
  return split;
}

}  // namespace volvelle
