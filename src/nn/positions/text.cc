#include <string>
#include <vector>

#include "nn/text_cursor.h"
#include "nn/texts_by_layer.h"
#include "volvelle/base/suggestion.h"
#include "volvelle/nn/positions/catalog.h"

namespace volvelle {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

// By recursive descent, a function for each rule:
//
//     scheme  = NAME [ "(" [ setting { "," setting } ] ")" ]
//     setting = KEY "=" ( "[" list "]" | value )
class SchemeParser : TextCursor {
 public:
  explicit SchemeParser(std::string_view text) : TextCursor("positions", text) {}

  PositionText scheme() {
    PositionText made{.scheme = std::string(word("a scheme")), .settings = {}};
    const PositionEntry& entry = position_scheme(made.scheme);
    if (take('(') && !take(')')) {
      do {
        made.settings.push_back(setting(entry, made.settings));
      } while (take(','));
      expect(')');
    }
    if (!at_end()) fail("the end");
    return made;
  }

 private:
  PositionSetting setting(const PositionEntry& entry, const std::vector<PositionSetting>& before) {
    skip_blanks();
    const std::size_t start = at_;
    PositionSetting made{.key = std::string(word("a setting")), .value = {}};
    check_key(entry, made.key, start);
    for (const PositionSetting& other : before) {
      if (other.key == made.key) refuse(start, "'" + made.key + "' is given twice");
    }
    expect('=');
    made.value = take('[') ? list() : value();
    return made;
  }

  std::string value() {
    const std::size_t start = at_;
    while (!at_end() && text_[at_] != ',' && text_[at_] != ')') ++at_;
    return checked(start, at_);
  }

  // Kept without its brackets, which `to_text` puts back.
  std::string list() {
    const std::size_t start = at_;
    while (!at_end() && text_[at_] != ']') ++at_;
    const std::string made = checked(start, at_);
    expect(']');
    return made;
  }

  std::string checked(std::size_t start, std::size_t end) {
    while (end > start && is_blank(text_[end - 1])) --end;
    const std::string_view value = text_.substr(start, end - start);
    if (value.empty()) fail("a value");
    if (value.find_first_of("()[]=|") != std::string_view::npos) {
      refuse(start, "'" + std::string(value) + "' is no value");
    }
    return std::string(value);
  }

  void check_key(const PositionEntry& entry, const std::string& key, std::size_t at) const {
    std::vector<std::string> names;
    std::string known;
    for (const PositionKey& one : entry.keys) {
      if (key == one.name) return;
      names.emplace_back(one.name);
      known += (known.empty() ? "" : ", ") + names.back();
    }
    refuse(at, "'" + std::string(entry.name) + "' has no setting '" + key + "'" +
                   suggestion(key, names) +
                   (known.empty() ? std::string(": it has none") : " (it has " + known + ")"));
  }

  std::string_view word(const char* what) {
    skip_blanks();
    const std::size_t start = at_;
    while (!at_end() && is_word(text_[at_])) ++at_;
    if (at_ == start) fail(what);
    return text_.substr(start, at_ - start);
  }
};

}  // namespace

PositionText parse_positions(std::string_view text) { return SchemeParser(text).scheme(); }

std::vector<PositionText> positions_by_layer(std::string_view text, std::int64_t layers) {
  std::vector<PositionText> made;
  std::string_view before;
  for (const std::string_view layer : texts_by_layer("positions", text, layers)) {
    const bool again = !made.empty() && layer == before;
    made.push_back(again ? made.back() : parse_positions(layer));
    before = layer;
  }
  return made;
}

std::string to_text(const PositionText& text) {
  std::string made = text.scheme;
  for (const PositionSetting& setting : text.settings) {
    const bool is_list = setting.value.find_first_of(", ") != std::string::npos;
    made += &setting == text.settings.data() ? "(" : ", ";
    made += setting.key + "=" + (is_list ? "[" + setting.value + "]" : setting.value);
  }
  return text.settings.empty() ? made : made + ")";
}

}  // namespace volvelle
