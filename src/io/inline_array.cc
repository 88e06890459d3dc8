#include <string_view>

#include "io/message_text.h"
#include "io/number_list.h"
#include "io/number_text.h"
#include "volvelle/base/error.h"
#include "volvelle/io/arrays.h"

namespace volvelle {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

[[noreturn]] void fail(const std::string& problem, std::string_view text) {
  throw InvalidArgument("[inline array] " + problem + ", in " + in_quotes(text) +
                        "; rows end at ';', numbers at blanks or a comma: \"1 0; 1 1\"");
}

// Takes the next number off the front of `row`: up to blanks, a comma, or both.
std::string_view next_word(std::string_view& row) {
  const std::size_t end = std::min(row.find_first_of(" \t\r\n,"), row.size());
  const std::string_view word = row.substr(0, end);
  row.remove_prefix(std::min(row.find_first_not_of(kBlanks, end), row.size()));
  if (row.starts_with(',')) {
    row.remove_prefix(1);
    row.remove_prefix(std::min(row.find_first_not_of(kBlanks), row.size()));
    if (row.empty()) row = ",";  // a comma with nothing behind it: the next word is empty
  }
  return word;
}

}  // namespace

Tensor parse_inline(const std::string& text, const ReadOptions& options) {
  check_number_dtype(options.number_dtype);
  NumberList numbers;
  std::int64_t rows = 0, columns = 0;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::size_t end = rest.find(';');
    std::string_view row = rest.substr(0, end);
    more = end != std::string_view::npos;
    if (more) rest.remove_prefix(end + 1);
    const std::string where = "row " + std::to_string(++rows);
    row.remove_prefix(std::min(row.find_first_not_of(kBlanks), row.size()));
    if (row.empty()) fail(where + " is empty", text);
    std::int64_t column = 0;
    while (!row.empty()) {
      const std::string_view word = next_word(row);
      ++column;
      const NumberText number = read_number(word);
      if (const auto* integer = std::get_if<std::int64_t>(&number)) {
        numbers.add_integer(*integer);
      } else if (const auto* real = std::get_if<double>(&number)) {
        numbers.add_real(*real);
      } else if (std::holds_alternative<TooLarge>(number)) {
        fail(where + ": " + in_quotes(word) + " is beyond the range of float64", text);
      } else {
        fail(where + ": " + in_quotes(word) + " is not a number", text);
      }
    }
    if (rows == 1) columns = column;
    if (column != columns) {
      fail(where + " has " + std::to_string(column) + " numbers, row 1 has " +
               std::to_string(columns),
           text);
    }
  }
  if (const auto bad = numbers.first_beyond(options.number_dtype)) {
    fail(std::to_string(numbers[*bad]) + " is beyond the range of " +
             std::string(name_of(options.number_dtype)),
         text);
  }
  return numbers.finish({rows, columns}, options.number_dtype);
}

}  // namespace volvelle
