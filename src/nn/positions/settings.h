#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "volvelle/nn/positions/catalog.h"

namespace volvelle {

/// Settings of a scheme as numbers and words. Everything throws InvalidArgument, naming the scheme,
/// the setting and what it may be.
class SchemeSettings {
 public:
  explicit SchemeSettings(const PositionText& text) : text_(text) {}

  bool has(std::string_view key) const { return find(key) != nullptr; }

  double number(std::string_view key, double standard) const;  ///< finite
  std::optional<double> number(std::string_view key) const;
  double positive(std::string_view key, double standard) const;
  std::int64_t count(std::string_view key, std::int64_t standard) const;  ///< 1 or more
  std::optional<std::int64_t> count(std::string_view key) const;
  std::int64_t natural(std::string_view key, std::int64_t standard) const;  ///< 0 or more
  bool yes(std::string_view key, bool standard) const;
  /// One of the words; the first where the key is not there.
  std::string word(std::string_view key, std::initializer_list<const char*> words) const;
  std::vector<double> list(std::string_view key) const;  ///< empty where it is not there

  /// `rule` is behind the name: "base=0.5 must be above 1".
  [[noreturn]] void refuse(const std::string& rule) const;

 private:
  const std::string* find(std::string_view key) const;
  [[noreturn]] void refuse_value(std::string_view key, const std::string& wanted) const;

  const PositionText& text_;
};

}  // namespace volvelle
