#include "volvelle/base/suggestion.h"

#include <algorithm>

namespace volvelle {

int edit_distance(std::string_view from, std::string_view to) {
  const std::size_t columns = to.size() + 1;
  std::vector<int> table((from.size() + 1) * columns);
  const auto at = [&](std::size_t i, std::size_t j) -> int& { return table[i * columns + j]; };
  for (std::size_t i = 0; i <= from.size(); ++i) at(i, 0) = static_cast<int>(i);
  for (std::size_t j = 0; j <= to.size(); ++j) at(0, j) = static_cast<int>(j);
  for (std::size_t i = 1; i <= from.size(); ++i) {
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const int differs = from[i - 1] != to[j - 1] ? 1 : 0;
      int best = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + differs});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        best = std::min(best, at(i - 2, j - 2) + 1);
      }
      at(i, j) = best;
    }
  }
  return at(from.size(), to.size());
}

std::string suggestion(std::string_view word, const std::vector<std::string>& choices) {
  const auto bare = [](std::string_view name) {
    return name.substr(std::min(name.find_first_not_of('-'), name.size()));
  };
  if (word.size() > 64) return "";
  word = bare(word);
  const std::string* nearest = nullptr;
  int least = 1 + static_cast<int>(word.size()) / 3;  // further away is no misspelling
  for (const std::string& choice : choices) {
    const std::string_view name = bare(choice);
    const bool begins = word.size() >= 3 && name.size() > word.size() && name.starts_with(word);
    const int distance = begins ? 1 : edit_distance(word, name);
    if (distance <= least && (nearest == nullptr || distance < least)) {
      nearest = &choice;
      least = distance;
    }
  }
  return nearest == nullptr ? "" : "; did you mean '" + *nearest + "'?";
}

}  // namespace volvelle
