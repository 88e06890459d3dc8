#pragma once

#include <string>

namespace volvelle {

/// With a point at its end, to stand among other sentences.
inline std::string sentence(const std::string& text) {
  return text.empty() || text.back() == '.' ? text : text + '.';
}

}  // namespace volvelle
