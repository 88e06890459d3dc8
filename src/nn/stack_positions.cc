#include "nn/stack_positions.h"

#include <map>
#include <string>

#include "volvelle/base/error.h"

namespace volvelle {

PositionContext position_context(const StackOptions& options) {
  return {.width = options.width,
          .heads = options.heads,
          .head_width = options.head_width,
          .key_heads = options.key_heads,
          .causal = options.causal,
          .dtype = options.dtype};
}

std::vector<LayerPositions> make_stack_positions(const StackOptions& options) {
  std::vector<LayerPositions> layers;
  // Instances that layers of the same text share; absent where each has its own.
  std::map<std::string, std::shared_ptr<PositionScheme>> shared;
  for (const PositionText& text : positions_by_layer(options.positions, options.layers)) {
    const PositionDoor door = position_scheme(text.scheme).door;
    if (door == PositionDoor::tokens) {
      throw InvalidArgument("[stack] positions '" + to_text(text) +
                            "' are added to the token vectors, before the first block; give them "
                            "to the model (LanguageModelOptions::positions)");
    }
    if (door == PositionDoor::none) {
      layers.emplace_back();
      continue;
    }
    const std::string name = to_text(text);
    if (const auto met = shared.find(name); met != shared.end()) {
      layers.push_back({met->second, false});
      continue;
    }
    std::shared_ptr<PositionScheme> scheme = make_positions(text, position_context(options));
    const PositionFacts facts = scheme->facts();
    if (facts.shared_by_layers || facts.parameters == 0) shared.emplace(name, scheme);
    layers.push_back({std::move(scheme), true});
  }
  return layers;
}

}  // namespace volvelle
