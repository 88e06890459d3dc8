#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace volvelle::cli {

/// Edits (insert, drop, replace, swap of neighbours) from one word to another.
int edit_distance(std::string_view from, std::string_view to);

/// "; did you mean 'attend'?" for the choice nearest to `word`, or nothing when none is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& choices);

}  // namespace volvelle::cli
