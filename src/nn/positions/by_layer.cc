#include <algorithm>
#include <charconv>
#include <string>

#include "volvelle/base/error.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") + 1 - first);
}

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("[positions] " + text); }

// The first such character outside brackets, or the end.
std::size_t find_outside(std::string_view text, char wanted, std::size_t from) {
  int depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == ']') --depth;
    if (depth == 0 && text[i] == wanted) return i;
  }
  return text.size();
}

struct Part {
  std::int64_t count = 1;
  bool counted = false;
  std::string_view text;
};

Part part_of(std::string_view text) {
  Part part{.text = trimmed(text)};
  const std::size_t colon = find_outside(part.text, ':', 0);
  if (colon == part.text.size()) return part;
  const std::string_view count = trimmed(part.text.substr(0, colon));
  const char* const end = count.data() + count.size();
  const auto [stop, error] = std::from_chars(count.data(), end, part.count);
  if (error != std::errc() || stop != end || part.count < 1) {
    refuse("'" + std::string(count) + "' before ':' must be a number of layers, 1 or more");
  }
  part.counted = true;
  part.text = trimmed(part.text.substr(colon + 1));
  return part;
}

std::vector<Part> parts_of(std::string_view text) {
  std::vector<Part> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t bar = find_outside(text, '|', start);
    parts.push_back(part_of(text.substr(start, bar - start)));
    start = bar + 1;
  }
  return parts;
}

// Brackets in brackets: more than a stack needs, and less than would exhaust ours.
constexpr int kDeepest = 8;

std::vector<PositionText> unit_of(const Part& part, std::int64_t most, int depth = 0);

// What stands between bars once through, for at most so many layers.
std::vector<PositionText> once(std::string_view text, std::int64_t most, int depth = 0) {
  std::vector<PositionText> made;
  for (const Part& part : parts_of(text)) {
    const auto left = most - static_cast<std::int64_t>(made.size());
    const std::vector<PositionText> unit = unit_of(part, left, depth);
    const auto size = static_cast<std::int64_t>(unit.size());
    if (part.count > left / size) {
      refuse("\"" + std::string(text) + "\" does not fit " + std::to_string(most) + " layers: \"" +
             std::string(part.text) + "\" is for " + std::to_string(part.count) + " times " +
             std::to_string(size) + ", and " + std::to_string(left) + " are left");
    }
    for (std::int64_t i = 0; i < part.count; ++i) made.insert(made.end(), unit.begin(), unit.end());
  }
  return made;
}

std::vector<PositionText> unit_of(const Part& part, std::int64_t most, int depth) {
  if (!part.text.starts_with('(')) return {parse_positions(part.text)};
  if (!part.text.ends_with(')')) refuse("\"" + std::string(part.text) + "\" lacks its ')'");
  if (depth == kDeepest) {
    refuse("more than " + std::to_string(kDeepest) + " brackets stand in each other");
  }
  return once(part.text.substr(1, part.text.size() - 2), most, depth + 1);
}

}  // namespace

std::vector<PositionText> positions_by_layer(std::string_view text, std::int64_t layers) {
  if (layers < 1) refuse("layers=" + std::to_string(layers) + " must be positive");
  text = trimmed(text);
  const std::size_t bar = [&] {
    std::size_t last = std::string_view::npos;
    for (std::size_t at = find_outside(text, '|', 0); at < text.size();
         at = find_outside(text, '|', at + 1)) {
      last = at;
    }
    return last;
  }();
  const Part last = part_of(bar == std::string_view::npos ? text : text.substr(bar + 1));
  if (last.counted) {
    std::vector<PositionText> made = once(text, layers);
    const auto size = static_cast<std::int64_t>(made.size());
    if (size == layers) return made;
    refuse("\"" + std::string(text) + "\" does not fit " + std::to_string(layers) +
           " layers: it is for " + std::to_string(size));
  }
  // The last part goes on to the end; a pattern may stop in the middle, as Gemma's does.
  std::vector<PositionText> made;
  if (bar != std::string_view::npos) made = once(text.substr(0, bar), layers);
  if (static_cast<std::int64_t>(made.size()) == layers) {
    refuse("\"" + std::string(text) + "\" does not fit " + std::to_string(layers) +
           " layers: none is left for \"" + std::string(last.text) + "\"");
  }
  const std::vector<PositionText> unit = unit_of(last, layers);
  for (std::size_t i = 0; static_cast<std::int64_t>(made.size()) < layers; ++i) {
    made.push_back(unit[i % unit.size()]);
  }
  return made;
}

}  // namespace volvelle
