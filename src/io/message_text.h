#pragma once

#include <string>
#include <string_view>

namespace volvelle {

/// Text of a file between single quotes for a message: control bytes and what is not UTF-8
/// escaped, long text cut, so that a hostile name cannot garble a terminal.
std::string in_quotes(std::string_view text);

/// Whether `text` is well-formed UTF-8 (no overlong forms, no surrogates).
bool is_utf8(std::string_view text);

}  // namespace volvelle
