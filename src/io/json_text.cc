#include "io/json_text.h"

#include <string_view>

#include "io/message_text.h"
#include "volvelle/base/error.h"

namespace volvelle {

void JsonEvents::fail(const std::string& problem) const { throw FormatError(file_, -1, problem); }

bool JsonEvents::parse_error(std::size_t position, const std::string& token,
                             const nlohmann::detail::exception& problem) {
  // nlohmann's text is "[json.exception...] parse error at line 1, column 5: what; last read:
  // '...'"; its head says nothing to a user and its tail may hold any bytes.
  std::string_view text = problem.what();
  if (const std::size_t head = text.find("] "); head != std::string_view::npos) {
    text.remove_prefix(head + 2);
  }
  text = text.substr(0, text.find("; last read"));
  if (problem.id == 406) {  // number overflow
    throw FormatError(
        file_, -1, what_ + " holds " + in_quotes(token) + ", which is beyond the range of float64");
  }
  const bool python_number = token.ends_with("N") || token.ends_with("I");
  constexpr std::string_view kHead = "parse error at ";
  text = text.starts_with(kHead) ? text.substr(kHead.size()) : text;
  // nlohmann counts the bytes it has read, the one at fault included.
  const std::int64_t at = position > 0 ? static_cast<std::int64_t>(position) - 1 : 0;
  throw FormatError(
      file_, offset_ + at,
      what_ + " is not valid JSON at " + std::string(text) +
          (python_number ? " (JSON has neither NaN nor Infinity; .npy and .npz do)" : ""));
}

void JsonEvents::read(Bytes text) {
  const auto* begin = reinterpret_cast<const char*>(text.data());
  nlohmann::json::sax_parse(begin, begin + text.size(), this);
}

}  // namespace volvelle
