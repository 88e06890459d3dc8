#include "volvelle/report/json.h"

#include <cmath>
#include <ostream>

#include "volvelle/base/error.h"
#include "volvelle/report/number.h"

namespace volvelle {
namespace {

[[noreturn]] void misuse(const char* what) {
  throw InternalError(std::string("[json] ") + what + "; please report this");
}

std::string quoted(std::string_view text) {
  static const char kHex[] = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      result += "\\u00";
      result += kHex[byte >> 4];
      result += kHex[byte & 15];
    } else {
      result += c;
    }
  }
  return result + '"';
}

// The length of the UTF-8 sequence that starts here; 0 where none does.
std::size_t sequence_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF5   ? 0
                             : first >= 0xF0 ? 4
                             : first >= 0xE0 ? 3
                             : first >= 0xC2 ? 2
                                             : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0u) != 0x80u) return 0;
  }
  const unsigned second = at(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool beyond = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || beyond ? 0 : length;
}

// File names may hold any bytes; a JSON document may not. What is no UTF-8 becomes '?'.
std::string as_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) {
      result += '?';
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

}  // namespace

void JsonWriter::line() { out_ << '\n' << std::string(2 * levels_.size(), ' '); }

void JsonWriter::place(bool object) {
  if (done_) misuse("a second document");
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  Level& level = levels_.back();
  if (level.object) misuse("a member without a key");
  if (!level.empty) out_ << (object ? "," : ", ");
  if (object) {
    level.broken = true;
    line();
  }
  level.empty = false;
}

void JsonWriter::scalar(std::string_view text) {
  place(false);
  out_ << text;
  done_ = levels_.empty();
  if (done_) out_ << '\n';
}

void JsonWriter::close(bool object) {
  if (levels_.empty() || levels_.back().object != object || after_key_) misuse("an end too many");
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.empty && (object || level.broken)) line();
  out_ << (object ? '}' : ']');
  done_ = levels_.empty();
  if (done_) out_ << '\n';
}

JsonWriter& JsonWriter::begin_object() {
  place(true);
  levels_.push_back({.object = true});
  out_ << '{';
  return *this;
}

JsonWriter& JsonWriter::end_object() { return close(true), *this; }

JsonWriter& JsonWriter::begin_array() {
  place(false);
  levels_.push_back({});
  out_ << '[';
  return *this;
}

JsonWriter& JsonWriter::end_array() { return close(false), *this; }

JsonWriter& JsonWriter::key(std::string_view name) {
  if (levels_.empty() || !levels_.back().object || after_key_) misuse("a key outside an object");
  if (!levels_.back().empty) out_ << ',';
  levels_.back().empty = false;
  line();
  out_ << quoted(as_utf8(name)) << ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(float number) {
  return scalar(std::isfinite(number) ? shortest(number) : "null"), *this;
}
JsonWriter& JsonWriter::value(double number) {
  return scalar(std::isfinite(number) ? shortest(number) : "null"), *this;
}
JsonWriter& JsonWriter::value(std::int64_t number) { return scalar(std::to_string(number)), *this; }
JsonWriter& JsonWriter::value(bool truth) { return scalar(truth ? "true" : "false"), *this; }
JsonWriter& JsonWriter::value(std::string_view text) {
  return scalar(quoted(as_utf8(text))), *this;
}
JsonWriter& JsonWriter::null() { return scalar("null"), *this; }

}  // namespace volvelle
