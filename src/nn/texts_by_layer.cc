#include "nn/texts_by_layer.h"

#include <charconv>
#include <string>

#include "volvelle/base/error.h"

namespace volvelle {
namespace {

// Brackets in brackets: more than a stack needs, and less than would exhaust ours.
constexpr int kDeepest = 8;

// The first such character outside brackets, or the end.
std::size_t find_outside(std::string_view text, char wanted, std::size_t from = 0) {
  int depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == ']') --depth;
    if (depth == 0 && text[i] == wanted) return i;
  }
  return text.size();
}

// What stands between bars.
struct Part {
  std::int64_t count = 1;
  bool counted = false;
  std::string_view text;
};

// By recursive descent:
//
//     layers = part { "|" part }
//     part   = [COUNT ":"] ("(" layers ")" | TEXT)
class LayerTexts {
 public:
  explicit LayerTexts(const char* operation) : operation_(operation) {}

  std::vector<std::string_view> all(std::string_view text, std::int64_t layers) const {
    if (layers < 1) refuse("layers=" + std::to_string(layers) + " must be positive");
    std::vector<Part> parts = parts_of(trimmed(text));
    const Part last = parts.back();
    if (!last.counted) parts.pop_back();
    std::vector<std::string_view> made = once(text, parts, layers, 0);
    const auto size = static_cast<std::int64_t>(made.size());
    if (!last.counted && size == layers) {
      refuse("\"" + std::string(text) + "\" does not fit " + std::to_string(layers) +
             " layers: none is left for \"" + std::string(last.text) + "\"");
    }
    if (last.counted && size != layers) {
      refuse("\"" + std::string(text) + "\" does not fit " + std::to_string(layers) +
             " layers: it is for " + std::to_string(size));
    }
    if (last.counted) return made;
    // The last part goes on to the end; a pattern may stop in the middle, as Gemma's does.
    const std::vector<std::string_view> unit = unit_of(last, layers, 0);
    for (std::size_t i = 0; static_cast<std::int64_t>(made.size()) < layers; ++i) {
      made.push_back(unit[i % unit.size()]);
    }
    return made;
  }

 private:
  [[noreturn]] void refuse(const std::string& text) const {
    throw InvalidArgument("[" + std::string(operation_) + "] " + text);
  }

  Part part_of(std::string_view text) const {
    Part part{.text = trimmed(text)};
    const std::size_t colon = find_outside(part.text, ':');
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

  std::vector<Part> parts_of(std::string_view text) const {
    std::vector<Part> parts;
    for (std::size_t start = 0; start <= text.size();) {
      const std::size_t bar = find_outside(text, '|', start);
      parts.push_back(part_of(text.substr(start, bar - start)));
      start = bar + 1;
    }
    return parts;
  }

  // The parts once through, for at most so many layers.
  std::vector<std::string_view> once(std::string_view text, const std::vector<Part>& parts,
                                     std::int64_t most, int depth) const {
    std::vector<std::string_view> made;
    for (const Part& part : parts) {
      const auto left = most - static_cast<std::int64_t>(made.size());
      const std::vector<std::string_view> unit = unit_of(part, left, depth);
      const auto size = static_cast<std::int64_t>(unit.size());
      if (part.count > left / size) {
        refuse("\"" + std::string(text) + "\" does not fit " + std::to_string(most) +
               " layers: \"" + std::string(part.text) + "\" is for " + std::to_string(part.count) +
               " times " + std::to_string(size) + ", and " + std::to_string(left) + " are left");
      }
      for (std::int64_t i = 0; i < part.count; ++i) {
        made.insert(made.end(), unit.begin(), unit.end());
      }
    }
    return made;
  }

  std::vector<std::string_view> unit_of(const Part& part, std::int64_t most, int depth) const {
    if (!part.text.starts_with('(')) return {part.text};
    if (!part.text.ends_with(')')) refuse("\"" + std::string(part.text) + "\" lacks its ')'");
    if (depth == kDeepest) {
      refuse("more than " + std::to_string(kDeepest) + " brackets stand in each other");
    }
    const std::string_view inside = part.text.substr(1, part.text.size() - 2);
    return once(inside, parts_of(inside), most, depth + 1);
  }

  const char* operation_;
};

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") + 1 - first);
}

std::vector<std::string_view> texts_by_layer(const char* operation, std::string_view text,
                                             std::int64_t layers) {
  return LayerTexts(operation).all(text, layers);
}

}  // namespace volvelle
