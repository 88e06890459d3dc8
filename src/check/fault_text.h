#pragma once

#include <charconv>
#include <string>

namespace volvelle {

/// A number in a sentence: four significant digits.
inline std::string fault_number(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 4);
  return std::string(text, end.ptr);
}

}  // namespace volvelle
