#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "volvelle/base/error.h"

namespace volvelle {

/// What parsers by recursive descent share: a place in a text, and refusals that name its column.
class TextCursor {
 protected:
  TextCursor(const char* operation, std::string_view text) : operation_(operation), text_(text) {}

  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }
  bool at_end() const { return at_ == text_.size(); }

  void skip_blanks() {
    while (!at_end() && is_blank(text_[at_])) ++at_;
  }

  bool take(char wanted) {
    skip_blanks();
    if (at_end() || text_[at_] != wanted) return false;
    ++at_;
    skip_blanks();
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) fail("'" + std::string(1, wanted) + "'");
  }

  [[noreturn]] void fail(const std::string& wanted) const {
    refuse(at_, "expected " + wanted + ", found " +
                    (at_end() ? std::string("the end")
                              : "'" + std::string(text_.substr(at_, 12)) + "'"));
  }

  [[noreturn]] void refuse(std::size_t at, const std::string& problem) const {
    throw InvalidArgument("[" + std::string(operation_) + "] column " + std::to_string(at + 1) +
                          " of \"" + std::string(text_) + "\": " + problem);
  }

  const char* operation_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace volvelle
