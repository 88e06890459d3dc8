#include <algorithm>
#include <string>

#include "nn/placement_parser.h"
#include "nn/texts_by_layer.h"
#include "volvelle/base/error.h"
#include "volvelle/base/suggestion.h"
#include "volvelle/nn/placement.h"

namespace volvelle {
namespace {

// Formulas have blanks or signs that names do not.
bool looks_like_name(std::string_view text) {
  return text.find_first_of("+*();") == std::string_view::npos;
}

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("[placement] " + text); }

[[noreturn]] void refuse_name(std::string_view name) {
  std::vector<std::string> names;
  std::string list;
  for (const PlacementEntry& entry : norm_placements()) {
    names.emplace_back(entry.name);
    list += (list.empty() ? "" : ", ") + names.back();
  }
  refuse("unknown placement '" + std::string(name) + "'" + suggestion(name, names) + " (one of " +
         list + "; or slots, such as \"" + norm_placements().front().slots + "\")");
}

}  // namespace

NormPlacement parse_placement(std::string_view text) {
  text = trimmed(text);
  for (const PlacementEntry& entry : norm_placements()) {
    if (text == entry.name) return parse_slots(entry.slots);
  }
  if (looks_like_name(text)) refuse_name(text);
  return parse_slots(text);
}

std::vector<NormPlacement> placements_by_layer(std::string_view text, std::int64_t layers) {
  std::vector<NormPlacement> made;
  std::string_view before;
  for (const std::string_view layer : texts_by_layer("placement", text, layers)) {
    const bool again = !made.empty() && layer == before;
    made.push_back(again ? made.back() : parse_placement(layer));
    before = layer;
  }
  return made;
}

}  // namespace volvelle
