#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

namespace volvelle {

/// What a piece of text is as a number.
struct NotANumber {};
struct TooLarge {};  ///< beyond the range of float64
using NumberText = std::variant<NotANumber, TooLarge, std::int64_t, double>;

/// Reads the whole of `text` as one decimal number, whatever the locale: an integer of at most 63
/// bits without point or exponent as int64, anything else ("1.5", "1e3", "nan", "-inf") as double.
/// What is too small for float64 becomes zero.
NumberText read_number(std::string_view text);

}  // namespace volvelle
