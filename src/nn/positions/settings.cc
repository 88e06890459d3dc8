#include "nn/positions/settings.h"

#include <charconv>
#include <cmath>

#include "volvelle/base/error.h"
#include "volvelle/base/suggestion.h"

namespace volvelle {
namespace {

template <class T>
std::optional<T> parsed(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return {};
  return number;
}

std::optional<double> finite(std::string_view text) {
  const std::optional<double> number = parsed<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace

const std::string* SchemeSettings::find(std::string_view key) const {
  for (const PositionSetting& setting : text_.settings) {
    if (setting.key == key) return &setting.value;
  }
  return nullptr;
}

void SchemeSettings::refuse(const std::string& rule) const {
  throw InvalidArgument("[positions] " + text_.scheme + ": " + rule);
}

void SchemeSettings::refuse_value(std::string_view key, const std::string& wanted) const {
  refuse(std::string(key) + "=" + *find(key) + " must be " + wanted);
}

std::optional<double> SchemeSettings::number(std::string_view key) const {
  const std::string* const value = find(key);
  if (value == nullptr) return {};
  const std::optional<double> number = finite(*value);
  if (!number) refuse_value(key, "a finite number");
  return number;
}

double SchemeSettings::number(std::string_view key, double standard) const {
  return number(key).value_or(standard);
}

double SchemeSettings::positive(std::string_view key, double standard) const {
  const double value = number(key, standard);
  if (!(value > 0)) refuse_value(key, "above 0");
  return value;
}

std::optional<std::int64_t> SchemeSettings::count(std::string_view key) const {
  const std::string* const value = find(key);
  if (value == nullptr) return {};
  const std::optional<std::int64_t> count = parsed<std::int64_t>(*value);
  if (!count || *count < 1) refuse_value(key, "an integer of 1 or more");
  return count;
}

std::int64_t SchemeSettings::count(std::string_view key, std::int64_t standard) const {
  return count(key).value_or(standard);
}

std::int64_t SchemeSettings::natural(std::string_view key, std::int64_t standard) const {
  const std::string* const value = find(key);
  if (value == nullptr) return standard;
  const std::optional<std::int64_t> number = parsed<std::int64_t>(*value);
  if (!number || *number < 0) refuse_value(key, "an integer of 0 or more");
  return *number;
}

bool SchemeSettings::yes(std::string_view key, bool standard) const {
  const std::string* const value = find(key);
  if (value == nullptr) return standard;
  if (*value != "yes" && *value != "no") refuse_value(key, "yes or no");
  return *value == "yes";
}

std::string SchemeSettings::word(std::string_view key,
                                 std::initializer_list<const char*> words) const {
  const std::string* const value = find(key);
  if (value == nullptr) return *words.begin();
  std::vector<std::string> names;
  std::string list;
  for (const char* word : words) {
    if (*value == word) return *value;
    names.emplace_back(word);
    list += (list.empty() ? "" : ", ") + names.back();
  }
  refuse_value(key, "one of " + list + suggestion(*value, names));
}

std::vector<double> SchemeSettings::list(std::string_view key) const {
  const std::string* const value = find(key);
  std::vector<double> numbers;
  if (value == nullptr) return numbers;
  std::string_view rest = *value;
  while (true) {
    const std::size_t first = rest.find_first_not_of(" \t\n,");
    if (first == std::string_view::npos) break;
    rest.remove_prefix(first);
    const std::string_view item = rest.substr(0, rest.find_first_of(" \t\n,"));
    const std::optional<double> number = finite(item);
    if (!number) refuse(std::string(key) + ": '" + std::string(item) + "' is no finite number");
    numbers.push_back(*number);
    rest.remove_prefix(item.size());
  }
  return numbers;
}

}  // namespace volvelle
