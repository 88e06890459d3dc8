#include <algorithm>
#include <charconv>
#include <string>

#include "nn/placement_parser.h"
#include "volvelle/base/error.h"
#include "volvelle/base/suggestion.h"
#include "volvelle/nn/placement.h"

namespace volvelle {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") + 1 - first);
}

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

struct Part {
  std::int64_t layers = 1;
  bool counted = false;
  std::string_view text;
};

Part part_of(std::string_view text) {
  Part part{.text = trimmed(text)};
  const std::size_t colon = part.text.find(':');
  if (colon == std::string_view::npos) return part;
  const std::string_view count = trimmed(part.text.substr(0, colon));
  const char* end = count.data() + count.size();
  const auto [stop, error] = std::from_chars(count.data(), end, part.layers);
  if (error != std::errc() || stop != end || part.layers < 1) {
    refuse("'" + std::string(count) + "' before ':' must be a number of layers, 1 or more");
  }
  part.counted = true;
  part.text = trimmed(part.text.substr(colon + 1));
  return part;
}

std::vector<Part> parts_of(std::string_view text) {
  std::vector<Part> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t bar = std::min(text.find('|', start), text.size());
    parts.push_back(part_of(text.substr(start, bar - start)));
    start = bar + 1;
  }
  return parts;
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
  std::vector<NormPlacement> placements;
  const std::vector<Part> parts = parts_of(text);
  for (const Part& part : parts) {
    const auto left = layers - static_cast<std::int64_t>(placements.size());
    const bool last = &part == &parts.back();
    const std::int64_t count = last && !part.counted ? left : part.layers;
    if (left < 1 || count > left || (last && count < left)) {
      refuse("\"" + std::string(text) + "\" does not fit " + std::to_string(layers) +
             " layers: \"" + std::string(part.text) + "\" is for " +
             std::to_string(std::max(count, part.layers)) + ", and " + std::to_string(left) +
             " are left");
    }
    placements.insert(placements.end(), static_cast<std::size_t>(count),
                      parse_placement(part.text));
  }
  return placements;
}

}  // namespace volvelle
