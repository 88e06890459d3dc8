#include "io/number_text.h"

#include <charconv>
#include <string>

namespace volvelle {
namespace {

// The power of ten of the first digit that is not zero, for a number that from_chars has found
// well-formed but outside the range: far above 0 when too large, far below when too small.
bool is_too_large(std::string_view text) {
  std::int64_t power = 0;
  bool point = false;
  bool digits = false;
  std::size_t at = 0;
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] == '.') {
      point = true;
    } else if (text[at] >= '0' && text[at] <= '9') {
      digits = digits || text[at] != '0';
      if (digits && !point) ++power;
      if (!digits && point) --power;
    }
  }
  if (at < text.size()) {
    std::string_view exponent = text.substr(at + 1);
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    std::int64_t value = 0;
    const auto [stop, problem] =
        std::from_chars(exponent.data(), exponent.data() + exponent.size(), value);
    // An exponent beyond 64 bits outweighs any number of digits.
    if (problem == std::errc::result_out_of_range) return !exponent.starts_with('-');
    if (__builtin_add_overflow(power, value, &power)) return value > 0;
  }
  return power > 0;
}

}  // namespace

NumberText read_number(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return NotANumber{};
  }
  const char* begin = text.data();
  const char* end = begin + text.size();
  std::int64_t integer = 0;
  const auto whole = std::from_chars(begin, end, integer);
  const bool negative_zero = integer == 0 && text.starts_with('-');
  if (whole.ec == std::errc() && whole.ptr == end && !negative_zero) return integer;

  double real = 0;
  const auto parsed = std::from_chars(begin, end, real);
  if (parsed.ec == std::errc::invalid_argument || parsed.ptr != end) return NotANumber{};
  if (parsed.ec == std::errc::result_out_of_range) {
    if (is_too_large(text)) return TooLarge{};
    return text.starts_with('-') ? -0.0 : 0.0;
  }
  return real;
}

}  // namespace volvelle
