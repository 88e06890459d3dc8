#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "volvelle/base/export.h"

namespace volvelle {

/// Edits (insert, drop, replace, swap of neighbours) from one word to another.
VOLVELLE_API int edit_distance(std::string_view from, std::string_view to);

/// For messages that name something unknown: "; did you mean 'attend'?" for the choice nearest to
/// `word`, or nothing when none is near.
VOLVELLE_API std::string suggestion(std::string_view word, const std::vector<std::string>& choices);

}  // namespace volvelle
