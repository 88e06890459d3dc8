#include "volvelle/report/number.h"

#include <charconv>
#include <cmath>

namespace volvelle {
namespace {

template <class Real>
std::string shortest_of(Real value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

std::string with_format(double value, std::chars_format format, int precision) {
  char text[512];
  const auto result = std::to_chars(text, text + sizeof text, value, format, precision);
  return result.ec == std::errc() ? std::string(text, result.ptr) : shortest_of(value);
}

// Drops zeros behind the point of a mantissa, and the point when nothing is left behind it.
std::string trimmed(std::string mantissa) {
  if (mantissa.find('.') == std::string::npos) return mantissa;
  mantissa.erase(mantissa.find_last_not_of('0') + 1);
  if (mantissa.back() == '.') mantissa.pop_back();
  return mantissa;
}

// Whether digits behind the point say it well: not too large, and not a false 0.
bool fits_point(double value, int digits) {
  const double magnitude = std::fabs(value);
  return magnitude < 1e7 && magnitude >= 0.5 * std::pow(10.0, -digits);
}

}  // namespace

std::string shortest(float value) { return shortest_of(value); }
std::string shortest(double value) { return shortest_of(value); }

std::string fixed(double value, int digits) {
  if (value == 0) return with_format(0, std::chars_format::fixed, digits);  // also negative zero
  if (!std::isfinite(value) || !fits_point(value, digits)) return rounded(value, digits);
  return with_format(value, std::chars_format::fixed, digits);
}

std::string rounded(double value, int digits) {
  if (!std::isfinite(value)) return shortest_of(value);
  if (value == 0) return "0";  // also negative zero
  if (fits_point(value, digits)) {
    return trimmed(with_format(value, std::chars_format::fixed, digits));
  }
  const std::string text =
      with_format(value, std::chars_format::scientific, digits > 1 ? digits - 1 : 0);
  const std::size_t exponent = text.find('e');
  return trimmed(text.substr(0, exponent)) + text.substr(exponent);
}

std::string scientific(double value, int digits) {
  if (!std::isfinite(value)) return shortest_of(value);
  return with_format(value, std::chars_format::scientific, digits);
}

std::string grouped(std::int64_t value) {
  std::string text = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t place = text.size(); place > first + 3; place -= 3) text.insert(place - 3, ",");
  return text;
}

std::string duration(double seconds) {
  struct Unit {
    double size;
    const char* name;
  };
  static constexpr Unit kUnits[] = {{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}, {1e-9, " ns"}};
  const Unit* unit = kUnits;
  while (unit->size > 1e-9 && seconds < unit->size * 0.9995) ++unit;
  const double value = seconds / unit->size;
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return with_format(value, std::chars_format::fixed, decimals) + unit->name;
}

}  // namespace volvelle
